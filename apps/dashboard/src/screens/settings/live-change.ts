import type { ChangeConfig, SettingView } from '@switchyard/core/contracts';

export type LiveName = keyof ChangeConfig;

interface PolicyRule {
  readonly kind: 'policy';
  readonly label: string;
  readonly explains: string;
}

interface NumberRule {
  readonly kind: 'number';
  readonly label: string;
  readonly explains: string;
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
  readonly step: number;
}

/** What may be changed while the router runs, with the bounds the router checks as well. */
export const liveRules: Readonly<Record<LiveName, PolicyRule | NumberRule>> = {
  policy: { kind: 'policy', label: 'Policy', explains: 'For regular workers, and for roles without a policy of their own.' },
  'prefill-policy': { kind: 'policy', label: 'Prefill policy', explains: 'How a prefill worker is chosen.' },
  'decode-policy': { kind: 'policy', label: 'Decode policy', explains: 'How a decode worker is chosen.' },
  'cache-threshold': { kind: 'number', label: 'Cache threshold', explains: 'Affinity counts when a worker holds more than this part of the prompt.', min: 0, max: 1, whole: false, step: 0.05 },
  'balance-abs-threshold': { kind: 'number', label: 'Balance, absolute', explains: 'Out of balance: the busiest is ahead of the idlest by more than this pressure …', min: 0, max: Number.MAX_SAFE_INTEGER, whole: true, step: 1 },
  'balance-rel-threshold': { kind: 'number', label: 'Balance, relative', explains: '… and has more than this many times its pressure.', min: 1, max: Number.MAX_SAFE_INTEGER, whole: false, step: 0.1 },
};

export const liveNames = Object.keys(liveRules) as readonly LiveName[];

export const policyChoices: readonly NonNullable<ChangeConfig['policy']>[] = [
  'cache_aware',
  'power_of_two',
  'least_load',
  'round_robin',
  'random',
  'consistent_hash',
  'rendezvous_hash',
  'sticky_least_loaded',
];

/** What the operator has typed; a name that is absent stays as it is. */
export type ChangeDraft = Readonly<Partial<Record<LiveName, string>>>;

export interface SettingChange {
  readonly name: LiveName;
  readonly from: string;
  readonly to: string;
}

/** Why a typed value is refused; `null` = it is fine. */
export function faultOf(name: LiveName, typed: string): string | null {
  const rule = liveRules[name];
  if (rule.kind === 'policy') return policyChoices.some((choice) => choice === typed) ? null : 'Choose one of the policies.';
  if (typed.trim() === '' || !Number.isFinite(Number(typed))) return 'Give a number.';
  const value = Number(typed);
  if (rule.whole && !Number.isInteger(value)) return 'Give a whole number.';
  if (value < rule.min) return `At least ${rule.min}.`;
  if (value > rule.max) return `At most ${rule.max}.`;
  return null;
}

/** What differs from the settings in force. */
export function changesOf(draft: ChangeDraft, settings: readonly SettingView[]): readonly SettingChange[] {
  return liveNames.flatMap((name) => {
    const typed = draft[name];
    const setting = settings.find((one) => one.name === name);
    if (typed === undefined || setting === undefined || isSame(name, typed, setting.shown)) return [];
    return [{ name, from: setting.shown, to: typed.trim() }];
  });
}

const isSame = (name: LiveName, typed: string, shown: string): boolean =>
  liveRules[name].kind === 'number' ? typed.trim() !== '' && Number(typed) === Number(shown) : typed === shown;

/** The body of the PATCH; only call it with changes that `faultOf` finds nothing against. */
export function changeBody(changes: readonly SettingChange[]): ChangeConfig {
  return Object.fromEntries(changes.map(({ name, to }) => [name, liveRules[name].kind === 'number' ? Number(to) : to]));
}
