import { type NameMeaning } from './setting-names.js';
import { type PlacedSetting } from './settings.js';

/** Where the value of a setting came from. */
export interface SettingSource {
  readonly kind: 'flag' | 'env' | 'file' | 'default' | 'admin';
  /** As a person would look for it: `--port`, `SWITCHYARD_PORT`, `port in /etc/switchyard.yaml`, `default`. */
  readonly label: string;
}

/** Where each value came from, by setting name. */
export type ConfigSources = Readonly<Record<string, SettingSource>>;

/** A value as written: its texts, or the file that holds them. */
export type RawValue = { readonly source: SettingSource } & ({ readonly texts: readonly string[] } | { readonly secretFile: string });

/** What one source says, by setting name, and what is wrong with it. */
export interface RawValues {
  readonly values: Map<string, RawValue>;
  readonly faults: string[];
  readonly warnings: string[];
}

export function noRawValues(): RawValues {
  return { values: new Map(), faults: [], warnings: [] };
}

/** Files the texts under what their name means. A setting that is already there by another name is a fault. */
export function addRaw(into: RawValues, meaning: NameMeaning, source: SettingSource, texts: readonly string[]): void {
  if (meaning.is === 'ignored') {
    into.warnings.push(`${source.label} is accepted and changes nothing: ${meaning.instead}`);
    return;
  }
  const { name } = meaning.setting;
  const earlier = into.values.get(name);
  if (earlier !== undefined) into.faults.push(`${earlier.source.label} and ${source.label} set the same thing: give one of them`);
  else if (meaning.is === 'setting') into.values.set(name, { source, texts });
  else into.values.set(name, { source, secretFile: texts[0] ?? '' });
}

/** Takes apart a text that holds the items of a list. */
export function listItems(setting: PlacedSetting, joined: string): readonly string[] {
  if (setting.shape !== 'list') return [joined];
  return joined.split(',').map((item) => item.trim());
}
