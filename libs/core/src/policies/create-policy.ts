import { type PolicyName } from '../words.js';
import { CacheAwarePolicy } from './cache-aware.policy.js';
import { ConsistentHashPolicy } from './consistent-hash.policy.js';
import { LeastLoadPolicy } from './least-load.policy.js';
import { type PolicyOptions } from './policy-options.js';
import { type Policy, type PolicyWorker } from './policy.js';
import { PowerOfTwoPolicy } from './power-of-two.policy.js';
import { RandomPolicy } from './random.policy.js';
import { RendezvousHashPolicy } from './rendezvous-hash.policy.js';
import { RoundRobinPolicy } from './round-robin.policy.js';
import { StickyLeastLoadedPolicy } from './sticky-least-loaded.policy.js';

export interface PolicyDeps {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Monotonic clock, ms. */
  readonly nowMs: () => number;
  readonly options: PolicyOptions;
}

/** A new instance of the policy called `name`, without members. Each stage needs its own. */
export function createPolicy<W extends PolicyWorker>(name: PolicyName, deps: PolicyDeps): Policy<W> {
  switch (name) {
    case 'random':
      return new RandomPolicy<W>(deps.random);
    case 'round_robin':
      return new RoundRobinPolicy<W>();
    case 'least_load':
      return new LeastLoadPolicy<W>();
    case 'power_of_two':
      return new PowerOfTwoPolicy<W>(deps.random);
    case 'consistent_hash':
      return new ConsistentHashPolicy<W>();
    case 'rendezvous_hash':
      return new RendezvousHashPolicy<W>();
    case 'sticky_least_loaded':
      return new StickyLeastLoadedPolicy<W>(deps.nowMs);
    case 'cache_aware':
      return new CacheAwarePolicy<W>(deps.options, deps.nowMs);
  }
}
