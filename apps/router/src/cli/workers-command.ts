import { workersAnswer } from '../operator/admin-answers.schema.js';
import { askAdmin } from '../operator/admin-client.js';
import { exitCodes, type CommandIo } from '../command.js';
import { operatorUsage, readOperatorArguments } from '../operator/operator-arguments.js';
import { readAs, tellRefusal } from './operator-command.js';
import { textTable } from './text-table.js';
import { selectability } from './worker-lines.js';

/** Lists the workers. */
export async function workersCommand(argv: readonly string[], io: CommandIo): Promise<number | null> {
  const given = readOperatorArguments(argv, io.env);
  if (given.help) {
    io.out(['usage: switchyard workers [flags]', ...operatorUsage].join('\n'));
    return exitCodes.ok;
  }
  return tellRefusal(io, given, async () => {
    const answer = await askAdmin(given.access, { method: 'GET', path: '/api/v1/workers' });
    const { workers } = readAs(workersAnswer, answer);
    if (given.json) io.out(JSON.stringify(answer.body, null, 2));
    else if (workers.length === 0) io.out('no workers');
    else {
      const header = ['ID', 'ENDPOINT', 'STATE', 'HEALTH', 'HEARTBEAT', 'SELECTABLE', 'LOAD', 'HOLDS', 'PROCESSED', 'GROUP', 'MODELS'];
      const rows = workers.map((worker) => [
        worker.id,
        worker.endpoint,
        worker.adminState,
        worker.health,
        worker.heartbeat,
        selectability(worker),
        String(worker.load),
        String(worker.holds.kvOut + worker.holds.bound),
        String(worker.processed),
        worker.group ?? '-',
        worker.modelsKnown ? worker.models.join(',') : 'not known yet',
      ]);
      io.out(textTable(header, rows).join('\n'));
    }
    return exitCodes.ok;
  });
}
