import { parseDocument } from 'yaml';

import { addRaw, noRawValues, type RawValues } from './raw-value.js';
import { meaningOf, type NameMeaning, unknownName } from './setting-names.js';

/** Reads the text of a `--config` file: one flat map from setting names to values, lists as lists. */
export function readYaml(text: string, file: string): RawValues {
  const into = noRawValues();
  // In this schema every scalar stays the text it is, so a token like 0123 is not read as a number first.
  const document = parseDocument(text, { schema: 'failsafe', logLevel: 'error' });
  const content: unknown = document.errors.length === 0 ? document.toJS({ maxAliasCount: 100 }) : null;
  for (const { message } of document.errors) into.faults.push(`${file}: ${message.split('\n')[0] ?? 'not YAML'}`);
  if (content === null || content === '') return into;
  if (typeof content !== 'object' || Array.isArray(content)) {
    into.faults.push(`${file}: must be a map of settings, such as "port: 8000"`);
    return into;
  }
  for (const [key, value] of Object.entries(content)) readKey(into, key, value, file);
  return into;
}

function readKey(into: RawValues, key: string, value: unknown, file: string): void {
  const label = `${key} in ${file}`;
  const meaning = meaningOf(key);
  const texts = textsOf(meaning, value);
  if (meaning === undefined) into.faults.push(`${label} ${unknownName(key, (name) => name)}`);
  else if (meaning.is === 'setting' && meaning.setting.notInFile) into.faults.push(`${label} may only be a flag or an environment variable`);
  else if (texts === undefined) into.faults.push(`${label} must be ${isList(meaning) ? 'a list of texts' : 'one value'}`);
  else addRaw(into, meaning, { kind: 'file', label }, texts);
}

function isList(meaning: NameMeaning): boolean {
  return meaning.is === 'setting' && meaning.setting.shape === 'list';
}

/** A list whose absence opens nothing: an empty key may stand for no items. */
function isPlainList(meaning: NameMeaning): boolean {
  return meaning.is === 'setting' && meaning.setting.shape === 'list' && !meaning.setting.sensitive;
}

function textsOf(meaning: NameMeaning | undefined, value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value === '' && meaning !== undefined && isPlainList(meaning) ? [] : [value];
  const texts = Array.isArray(value) && meaning !== undefined && isList(meaning) ? (value as unknown[]) : undefined;
  return texts?.every((item) => typeof item === 'string') === true ? texts : undefined;
}
