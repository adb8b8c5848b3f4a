import { Inject, Injectable } from '@nestjs/common';
import { Cluster, type PolicyName } from '@switchyard/core';
import { type ChangeConfig } from '@switchyard/core/contracts';

import { LOADED_CONFIG } from '../../config/config.module.js';
import { type EffectiveSetting, effectiveConfig } from '../../config/effective-config.js';
import { type LoadedConfig } from '../../config/load-config.js';
import { type ConfigSources, type SettingSource } from '../../config/raw-value.js';
import { type Config } from '../../config/settings.js';
import { CLUSTER } from '../../pools/pools.service.js';
import { PolicyService } from '../../policy/policy.service.js';
import { AuditLog } from '../audit-log.js';

const label = 'admin API';

/** The settings in force: those of the start, and what operators have changed since. Changes end with the process. */
@Injectable()
export class LiveConfig {
  readonly #cluster: Cluster;
  readonly #policies: PolicyService;
  readonly #audit: AuditLog;
  #config: Config;
  #sources: ConfigSources;

  constructor(
    @Inject(LOADED_CONFIG) { config, sources }: LoadedConfig,
    @Inject(CLUSTER) cluster: Cluster,
    @Inject(PolicyService) policies: PolicyService,
    @Inject(AuditLog) audit: AuditLog,
  ) {
    this.#config = config;
    this.#sources = sources;
    this.#cluster = cluster;
    this.#policies = policies;
    this.#audit = audit;
  }

  get settings(): readonly EffectiveSetting[] {
    return effectiveConfig({ config: this.#config, sources: this.#sources });
  }

  /** Applies a validated change at once; requests in flight keep the workers they have. */
  change(change: ChangeConfig, by: string): void {
    const before = this.#config.policy;
    const policy: Config['policy'] = {
      ...before,
      base: change.policy ?? before.base,
      prefill: change['prefill-policy'] ?? this.#inherited('prefill-policy', change.policy) ?? before.prefill,
      decode: change['decode-policy'] ?? this.#inherited('decode-policy', change.policy) ?? before.decode,
      cacheThreshold: change['cache-threshold'] ?? before.cacheThreshold,
      balanceAbsThreshold: change['balance-abs-threshold'] ?? before.balanceAbsThreshold,
      balanceRelThreshold: change['balance-rel-threshold'] ?? before.balanceRelThreshold,
    };
    const { base, prefill, decode, cacheThreshold, balanceAbsThreshold, balanceRelThreshold, prefixIndexMaxBytes } = policy;
    this.#policies.change(this.#cluster.fleet.pools, {
      names: { prefill, decode, regular: base },
      options: { cacheThreshold, balanceAbsThreshold, balanceRelThreshold, prefixIndexMaxBytes },
    });
    const was = new Map(this.settings.map(({ name, shown }) => [name, shown]));
    this.#config = { ...this.#config, policy };
    this.#sources = { ...this.#sources, ...this.#changedSources(change) };
    const detail: Record<string, string | number | null> = {};
    for (const [name, value = null] of Object.entries(change)) {
      detail[name] = value;
      detail[`${name} before`] = was.get(name) ?? null;
    }
    this.#audit.record({ type: 'config', actor: by, detail });
  }

  /** As at the start: a policy that nobody set for its role follows the general one. */
  #inherited(name: string, policy: PolicyName | undefined): PolicyName | undefined {
    return this.#sources[name]?.kind === 'default' ? policy : undefined;
  }

  #changedSources(change: ChangeConfig): ConfigSources {
    const inheriting = change.policy === undefined ? [] : ['prefill-policy', 'decode-policy'].filter((name) => this.#sources[name]?.kind === 'default');
    const sources: Record<string, SettingSource> = {};
    for (const name of inheriting) sources[name] = { kind: 'default', label: `default, from ${label}` };
    for (const name of Object.keys(change)) sources[name] = { kind: 'admin', label };
    return sources;
  }
}
