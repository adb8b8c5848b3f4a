import { roles } from '@switchyard/core';

import { overviewAnswer, workersAnswer } from '../operator/admin-answers.schema.js';
import { askAdmin } from '../operator/admin-client.js';
import { exitCodes, type CommandIo } from '../command.js';
import { operatorUsage, readOperatorArguments } from '../operator/operator-arguments.js';
import { readAs, tellRefusal } from './operator-command.js';
import { servingWords } from './serving.js';
import { textTable } from './text-table.js';
import { selectability } from './worker-lines.js';

/** Tells what the router can serve now and what keeps workers out. */
export async function statusCommand(argv: readonly string[], io: CommandIo): Promise<number | null> {
  const given = readOperatorArguments(argv, io.env);
  if (given.help) {
    io.out(['usage: switchyard status [flags]', ...operatorUsage].join('\n'));
    return exitCodes.ok;
  }
  return tellRefusal(io, given, async () => {
    const [workersBody, overviewBody] = await Promise.all([
      askAdmin(given.access, { method: 'GET', path: '/api/v1/workers' }),
      askAdmin(given.access, { method: 'GET', path: '/api/v1/overview' }),
    ]);
    const { workers, pools } = readAs(workersAnswer, workersBody);
    const { now } = readAs(overviewAnswer, overviewBody);
    if (given.json) {
      io.out(JSON.stringify({ admin: given.access.origin, pools, now: (overviewBody.body as { readonly now: unknown }).now }, null, 2));
      return exitCodes.ok;
    }
    const table = textTable(
      ['ROLE', 'SELECTABLE', 'TOTAL', 'LOAD'],
      roles.map((role) => [role, String(pools[role].selectable), String(pools[role].total), String(pools[role].load)]),
    );
    io.out([`serving ${servingWords(workers)}`, '', ...table, ''].join('\n'));
    io.out(`${now.inflight} in flight, ${shown(now.rps, 1, '')} requests/s, ${shown(now.errorShare, 100, ' %')} errors`);
    const out = workers.filter(({ selectable }) => !selectable).map((worker) => `${worker.id} ${worker.endpoint} selectable ${selectability(worker)}`);
    if (out.length > 0) io.out(['', ...out].join('\n'));
    return exitCodes.ok;
  });
}

function shown(value: number | null, times: number, unit: string): string {
  return value === null ? 'no' : `${Number((value * times).toFixed(1))}${unit}`;
}
