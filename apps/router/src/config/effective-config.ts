import { type LoadedConfig } from './load-config.js';
import { type SettingSource } from './raw-value.js';
import { type Config, type PlacedSetting, settings } from './settings.js';

/** One line of the effective configuration, fit to be shown: secrets are masked. */
export interface EffectiveSetting {
  readonly name: string;
  readonly group: string;
  readonly value: unknown;
  /** The value as one would write it in a flag; items of a list separated by commas. */
  readonly shown: string;
  readonly source: SettingSource;
  /** May be changed while the router runs. */
  readonly live: boolean;
}

const mask = '********';

/** All settings with the values in force and where they came from, in the order of the reference. */
export function effectiveConfig({ config, sources }: Pick<LoadedConfig, 'config' | 'sources'>): readonly EffectiveSetting[] {
  return settings.map((setting) => ({
    name: setting.name,
    group: setting.group,
    value: masked(setting, valueIn(config, setting)),
    shown: showValue(setting, masked(setting, valueIn(config, setting))),
    source: sources[setting.name] ?? { kind: 'default', label: 'default' },
    live: setting.live,
  }));
}

/** The value of `setting` in `config`. */
export function valueIn(config: Config, { group, key }: PlacedSetting): unknown {
  return (config[group] as Readonly<Record<string, unknown>>)[key];
}

function masked(setting: PlacedSetting, value: unknown): unknown {
  if (!setting.sensitive || value === null) return value;
  return Array.isArray(value) ? value.map(() => mask) : mask;
}

/** A value of `setting` as text; empty for nothing. */
export function showValue(setting: PlacedSetting, value: unknown): string {
  const show = (item: unknown): string => setting.kind.show?.(item) ?? String(item);
  if (Array.isArray(value)) return value.map(show).join(',');
  return value === null && setting.kind.show === undefined ? '' : show(value);
}
