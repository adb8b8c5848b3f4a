import { type CacheView } from '../contracts/cache.schema.js';
import { type Fleet } from '../pools/fleet.js';
import { type CacheTreeNode } from '../policies/affinity-statistics.js';
import { type Policy } from '../policies/policy.js';
import { type Role, roles } from '../words.js';
import { type Worker } from '../workers/worker.js';

/** Gives the cache part of a worker of one pool; costs O(models × workers) once, then O(models) a worker. */
export function cacheShares({ affinity }: Policy<Worker>): (worker: Worker) => { coveredBytes: number; share: number } {
  if (affinity === undefined) return () => ({ coveredBytes: 0, share: 0 });
  const all = affinity.cacheStats().reduce((sum, { coveredBytes }) => sum + coveredBytes, 0);
  return (worker) => {
    const coveredBytes = worker.departure === null ? affinity.coveredBytes(worker) : 0;
    return { coveredBytes, share: shareOf(coveredBytes, all) };
  };
}

/** The prefix indexes of all roles, one entry per role and model. O(models × workers). */
export function cacheViews(fleet: Fleet): CacheView[] {
  return roles.flatMap((role) =>
    (fleet.pools[role].policy.affinity?.cacheStats() ?? []).map(({ workers, ...stats }) => ({
      role,
      ...stats,
      workers: workers.map(({ worker, coveredBytes, share, hits }) => ({ id: worker.id, coveredBytes, share: Math.min(1, share), hits })),
    })),
  );
}

/** The heaviest prefixes of `model` among the workers of `role`; empty when its policy keeps no index. */
export function cacheTreeView(fleet: Fleet, role: Role, model: string, depth: number, limit: number): readonly CacheTreeNode[] {
  return fleet.pools[role].policy.affinity?.cacheTree(model, depth, limit) ?? [];
}

/** A departed worker's bytes may still be counted in none or both sums for a moment. */
function shareOf(part: number, all: number): number {
  return all === 0 ? 0 : Math.min(1, part / all);
}
