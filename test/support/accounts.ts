import { eventually } from './eventually.js';
import { type RouterProcess } from './router-process.js';
import { type WorkerJson } from './admin-client.js';

/**
 * Waits until nothing is held anywhere, and fails unless the books balance: every lease that began has ended in
 * exactly one way, none had to be taken back from its owner, and nothing went wrong inside the router.
 */
export async function settled(router: RouterProcess, timeoutMs = 5_000): Promise<WorkerJson[]> {
  const workers = await router.admin.quiet(timeoutMs);
  for (const { id, processed, succeeded, failed, cancelled } of workers) {
    if (processed !== succeeded + failed + cancelled) throw new Error(`${id}: ${JSON.stringify({ processed, succeeded, failed, cancelled })}`);
  }
  await eventually('no request in flight', async () => ((await router.admin.get('/api/v1/requests?state=inflight')).items as unknown[]).length === 0, timeoutMs);
  const metrics = await (await fetch(`http://${router.adminAddress}/metrics`, { headers: { authorization: `Bearer ${router.admin.token}` } })).text();
  const leases = [...metrics.matchAll(/^switchyard_(leases_live|leases_leaked_total)(?:\{[^}]*\})? (\S+)$/gm)];
  const wrong = leases.filter(([, , value]) => value !== '0').map(([line]) => line);
  if (leases.length === 0 || wrong.length > 0) throw new Error(`leases in /metrics: ${wrong.join(', ') || 'none'}`);
  complainOfFaults(router);
  return workers;
}

/** Fails when the router has logged an error of its own. */
export function complainOfFaults(router: RouterProcess): void {
  const bad = router.child.stderr.filter((line) => /unhandled|uncaught|failed inside|"level":(?:50|60)/i.test(line));
  if (bad.length > 0) throw new Error(bad.slice(0, 3).join('\n'));
}
