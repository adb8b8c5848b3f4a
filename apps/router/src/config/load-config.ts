import { readArgv } from './argv-source.js';
import { checkTogether } from './cross-checks.js';
import { readEnv } from './env-source.js';
import { type ConfigSources, noRawValues, type RawValue, type RawValues, type SettingSource } from './raw-value.js';
import { readSetting, type SettingRead } from './read-setting.js';
import { type Config, type PlacedSetting, settings } from './settings.js';
import { readYaml } from './yaml-source.js';

export interface LoadedConfig {
  readonly ok: true;
  readonly config: Config;
  readonly sources: ConfigSources;
  readonly warnings: readonly string[];
}

export interface RefusedConfig {
  readonly ok: false;
  /** One clear line each. */
  readonly faults: readonly string[];
}

/** Reads a text file, or throws. */
export type ReadFile = (path: string) => string;

/**
 * Reads, merges and validates all settings once: flag before environment before file before default. The result is
 * deeply frozen. Every fault of every source is reported, not only the first.
 */
export function loadConfig(argv: readonly string[], env: Readonly<Record<string, string | undefined>>, readFile: ReadFile): LoadedConfig | RefusedConfig {
  const flags = readArgv(argv);
  const variables = readEnv(env);
  const file = readConfigFile(flags.values.get('config') ?? variables.values.get('config'), readFile);
  const layers = [flags, variables, file];
  const faults = layers.flatMap((layer) => layer.faults);
  const warnings = layers.flatMap((layer) => layer.warnings);

  const chosen = new Map<string, RawValue>();
  for (const layer of layers.toReversed()) for (const [name, raw] of layer.values) chosen.set(name, raw);

  const groups: Record<string, Record<string, unknown>> = {};
  const sources: Record<string, SettingSource> = {};
  for (const setting of settings) {
    const raw = chosen.get(setting.name) ?? (setting.inherits === null ? undefined : chosen.get(setting.inherits));
    const read = raw === undefined ? ({ ok: true, value: setting.default } as const) : readRaw(setting, raw, readFile);
    sources[setting.name] = chosen.get(setting.name)?.source ?? { kind: 'default', label: raw === undefined ? 'default' : `default, from ${raw.source.label}` };
    if (read.ok) (groups[setting.group] ??= {})[setting.key] = read.value;
    else if (chosen.has(setting.name)) faults.push(...read.faults);
  }
  if (faults.length > 0) return { ok: false, faults };

  // The table that gives `Config` its type is the one walked above, so the object has that shape.
  const config = deepFreeze(groups) as unknown as Config;
  const together = checkTogether(config, sources);
  if (together.faults.length > 0) return { ok: false, faults: together.faults };
  return { ok: true, config, sources: Object.freeze(sources), warnings: [...warnings, ...together.warnings] };
}

function readConfigFile(raw: RawValue | undefined, readFile: ReadFile): RawValues {
  const path = raw !== undefined && 'texts' in raw ? raw.texts.at(-1) : undefined;
  if (raw === undefined || path === undefined) return noRawValues();
  try {
    return readYaml(readFile(path), path);
  } catch (error) {
    return { ...noRawValues(), faults: [`${raw.source.label}: cannot read ${path}: ${messageOf(error)}`] };
  }
}

function readRaw(setting: PlacedSetting, raw: RawValue, readFile: ReadFile): SettingRead {
  if ('texts' in raw) return readSetting(setting, raw.texts, raw.source.label);
  let lines: readonly string[];
  try {
    lines = readFile(raw.secretFile).split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '');
  } catch (error) {
    return { ok: false, faults: [`${raw.source.label}: cannot read ${raw.secretFile}: ${messageOf(error)}`] };
  }
  if (lines.length === 0) return { ok: false, faults: [`${raw.source.label}: ${raw.secretFile} is empty`] };
  if (setting.shape !== 'list' && lines.length > 1) return { ok: false, faults: [`${raw.source.label}: ${raw.secretFile} must hold one line`] };
  return readSetting(setting, lines, raw.source.label);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
