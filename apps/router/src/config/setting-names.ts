import { acceptedWithWarning, explainUnknown } from './foreign-flags.js';
import { type PlacedSetting, settings } from './settings.js';

/** What a name stands for, in any source. */
export type NameMeaning =
  | { readonly is: 'setting'; readonly setting: PlacedSetting }
  /** Names a file that holds the value of a sensitive setting. */
  | { readonly is: 'secret-file'; readonly setting: PlacedSetting }
  /** A setting of vLLM Router that changes nothing here. */
  | { readonly is: 'ignored'; readonly takesValue: boolean; readonly instead: string };

const meanings: ReadonlyMap<string, NameMeaning> = new Map(
  [
    ...settings.flatMap((setting) =>
      [setting.name, ...setting.aliases].flatMap((name): [string, NameMeaning][] => [
        [name, { is: 'setting', setting }],
        ...(setting.sensitive ? [[`${name}-file`, { is: 'secret-file', setting }] as [string, NameMeaning]] : []),
      ]),
    ),
    ...[...acceptedWithWarning].map(([name, facts]): [string, NameMeaning] => [name, { is: 'ignored', ...facts }]),
  ],
);

const knownNames = [...meanings.keys()];

/** What the kebab-case `name` stands for; `undefined` when nothing does. */
export function meaningOf(name: string): NameMeaning | undefined {
  return meanings.get(name);
}

/** `is unknown; did you mean …?`, for a name that means nothing. */
export function unknownName(name: string, spell: (name: string) => string): string {
  return explainUnknown(name, knownNames, spell);
}

export function flagName(name: string): string {
  return `--${name}`;
}

/** `SWITCHYARD_` + upper snake case. */
export function variableName(name: string): string {
  return `${variablePrefix}${name.toUpperCase().replaceAll('-', '_')}`;
}

export const variablePrefix = 'SWITCHYARD_';
