import { Inject, Injectable } from '@nestjs/common';
import { createPolicy, type Policy, type PolicyName, type PolicyOptions, type Role, roles, type Worker } from '@switchyard/core';
import { LOADED_CONFIG } from '../config/config.module.js';
import { type LoadedConfig } from '../config/load-config.js';

/** Which policy each role uses, and the thresholds of the cache-aware ones. */
export interface PolicySettings {
  readonly names: Readonly<Record<Role, PolicyName>>;
  readonly options: PolicyOptions;
}

/** Makes the policy instances, one per role, and remakes them when an operator changes them. */
@Injectable()
export class PolicyService {
  #settings: PolicySettings;

  constructor(@Inject(LOADED_CONFIG) { config }: LoadedConfig) {
    const { base, prefill, decode, cacheThreshold, balanceAbsThreshold, balanceRelThreshold, prefixIndexMaxBytes } = config.policy;
    this.#settings = {
      names: { prefill, decode, regular: base },
      options: { cacheThreshold, balanceAbsThreshold, balanceRelThreshold, prefixIndexMaxBytes },
    };
  }

  get settings(): PolicySettings {
    return this.#settings;
  }

  /** New instances of all roles' policies. */
  create(): Readonly<Record<Role, Policy<Worker>>> {
    return { prefill: this.#instance('prefill'), decode: this.#instance('decode'), regular: this.#instance('regular') };
  }

  /**
   * Changes names and thresholds while requests run. A role whose name stays keeps its policy with all it has learnt;
   * thresholds reach running cache-aware policies in place.
   */
  change(pools: Readonly<Record<Role, { readonly policy: Policy<Worker>; setPolicy(policy: Policy<Worker>): void }>>, wanted: PolicySettings): void {
    const before = this.#settings.names;
    this.#settings = wanted;
    for (const role of roles) {
      if (wanted.names[role] !== before[role]) pools[role].setPolicy(this.#instance(role));
      else pools[role].policy.setOptions?.(wanted.options);
    }
  }

  #instance(role: Role): Policy<Worker> {
    return createPolicy<Worker>(this.#settings.names[role], {
      random: Math.random,
      nowMs: () => performance.now(),
      options: this.#settings.options,
    });
  }
}
