import { type ValueKind } from './value-kind.js';

/** What every setting says of itself; flags, environment, file, help and reference page all come from this. */
interface SettingFacts {
  /** Kebab-case: the flag without dashes and the key of the file. */
  readonly name: string;
  readonly description: string;
  /** First version that has it. */
  readonly since: string;
  /** Other names that mean the same. */
  readonly aliases: readonly string[];
  /** Never shown; may also come from a file named by `<name>-file`. */
  readonly sensitive: boolean;
  /** May be changed while the router runs. */
  readonly live: boolean;
  /** A setting whose explicit value is the default of this one. */
  readonly inherits: string | null;
  /** May only be a flag or a variable. */
  readonly notInFile: boolean;
  /** The default in words, where the value itself does not say it. */
  readonly defaultText: string | null;
}

export interface Setting<T = unknown> extends SettingFacts {
  /** `switch` needs no value on the command line; `list` gathers all its values. */
  readonly shape: 'value' | 'switch' | 'list';
  /** One flag may be followed by several values. */
  readonly takesMany: boolean;
  /** Reads one value, an item of a list. */
  readonly kind: ValueKind<unknown>;
  readonly default: T;
}

type Facts = Pick<SettingFacts, 'name' | 'description'> & Partial<SettingFacts>;

function facts(given: Facts): SettingFacts {
  return { since: '0.1', aliases: [], sensitive: false, live: false, inherits: null, notInFile: false, defaultText: null, ...given };
}

/** A setting of one value; `fallback` may be `null` for "not set". */
export function one<T, D extends T | null>(kind: ValueKind<T>, fallback: D, given: Facts): Setting<T | D> {
  return { ...facts(given), shape: 'value', takesMany: false, kind, default: fallback };
}

/** A setting that is on or off. */
export function toggle(kind: ValueKind<boolean>, fallback: boolean, given: Facts): Setting<boolean> {
  return { ...facts(given), shape: 'switch', takesMany: false, kind, default: fallback };
}

/** A setting of any number of values. */
export function many<T>(kind: ValueKind<T>, fallback: readonly T[], given: Facts & { readonly takesMany?: boolean }): Setting<readonly T[]> {
  const { takesMany = false, ...rest } = given;
  return { ...facts(rest), shape: 'list', takesMany, kind, default: fallback };
}
