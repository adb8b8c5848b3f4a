import { noRawValues, type RawValue, type RawValues } from './raw-value.js';
import { flagName, meaningOf, type NameMeaning, unknownName } from './setting-names.js';
import { type PlacedSetting } from './settings.js';
import { bootstrapWord } from './static-engine.js';

/**
 * Reads the command line: `--name value`, `--name=value`, `--switch`, `--no-switch`; `--prefill`, `--decode` and
 * `--worker-url` take all values up to the next flag. Of a repeated flag the last counts, lists gather.
 */
export function readArgv(argv: readonly string[]): RawValues {
  const into = noRawValues();
  let at = 0;
  while (at < argv.length) {
    const word = argv[at] ?? '';
    at += 1;
    if (!word.startsWith('--') || word === '--') {
      into.faults.push(`${JSON.stringify(word)} is not expected here: settings are written as --name value`);
      continue;
    }
    const equals = word.indexOf('=');
    const written = equals < 0 ? word.slice(2) : word.slice(2, equals);
    const attached = equals < 0 ? undefined : word.slice(equals + 1);
    const { meaning, negated } = lookUp(written);
    const following = attached === undefined ? valuesAfter(argv, at, meaning) : [];
    at += following.length;
    if (meaning === undefined) into.faults.push(`--${written} ${unknownName(written, flagName)}`);
    else take(into, { meaning, negated, flag: `--${written}`, values: attached === undefined ? following : [attached] });
  }
  return into;
}

interface Given {
  readonly meaning: NameMeaning;
  readonly negated: boolean;
  readonly flag: string;
  readonly values: readonly string[];
}

function lookUp(written: string): { readonly meaning: NameMeaning | undefined; readonly negated: boolean } {
  const meaning = meaningOf(written);
  if (meaning !== undefined || !written.startsWith('no-')) return { meaning, negated: false };
  const positive = meaningOf(written.slice(3));
  const negatable = positive?.is === 'setting' && positive.setting.shape === 'switch';
  return { meaning: negatable ? positive : undefined, negated: true };
}

/** The words after a flag that are its values. An unknown flag takes those that cannot be anything else. */
function valuesAfter(argv: readonly string[], from: number, meaning: NameMeaning | undefined): readonly string[] {
  const isSwitch = meaning?.is === 'setting' ? meaning.setting.shape === 'switch' : meaning?.is === 'ignored' && !meaning.takesValue;
  if (isSwitch) return [];
  const takesMany = meaning === undefined || (meaning.is === 'setting' && meaning.setting.takesMany);
  const end = argv.findIndex((word, index) => index >= from && (word.startsWith('--') || (!takesMany && index > from)));
  return argv.slice(from, end < 0 ? (takesMany ? argv.length : from + 1) : end);
}

function take(into: RawValues, { meaning, negated, flag, values }: Given): void {
  if (meaning.is === 'ignored') {
    into.warnings.push(`${flag} is accepted and changes nothing: ${meaning.instead}`);
    return;
  }
  const { setting } = meaning;
  const source = { kind: 'flag', label: flag } as const;
  if (meaning.is === 'setting' && setting.shape === 'switch') {
    if (negated && values.length > 0) into.faults.push(`${flag} takes no value`);
    else into.values.set(setting.name, { source, texts: negated ? ['false'] : values.length > 0 ? values : ['true'] });
    return;
  }
  const first = values[0];
  if (first === undefined) {
    into.faults.push(`${flag} needs a value: ${meaning.is === 'setting' ? setting.kind.allowed : 'the path of a file'}`);
    return;
  }
  const earlier = into.values.get(setting.name);
  if (meaning.is === 'secret-file' || (earlier && 'secretFile' in earlier)) {
    if (earlier !== undefined && ('texts' in earlier || meaning.is === 'setting')) {
      into.faults.push(`${earlier.source.label} and ${flag} set the same thing: give one of them`);
    } else into.values.set(setting.name, { source, secretFile: first });
    return;
  }
  into.values.set(setting.name, { source, texts: [...gathered(setting, earlier), ...joinPorts(setting, values)] });
}

function gathered(setting: PlacedSetting, earlier: RawValue | undefined): readonly string[] {
  return setting.shape === 'list' && earlier !== undefined && 'texts' in earlier ? earlier.texts : [];
}

/** `URL 8998 URL none` is two items. */
function joinPorts(setting: PlacedSetting, words: readonly string[]): readonly string[] {
  if (!setting.kind.placeholder.includes(' ')) return words;
  const items: string[] = [];
  for (const word of words) {
    const last = items.at(-1);
    if (last !== undefined && !last.includes(' ') && bootstrapWord.test(word)) items[items.length - 1] = `${last} ${word}`;
    else items.push(word);
  }
  return items;
}
