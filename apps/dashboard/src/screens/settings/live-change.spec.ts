import { changeConfigSchema, type SettingView } from '@switchyard/core/contracts';

import { changeBody, changesOf, faultOf, liveNames, liveRules, policyChoices } from './live-change.js';

const setting = (name: string, shown: string): SettingView => ({ name, group: 'policy', value: shown, shown, source: { kind: 'default', label: 'default' }, live: true });
const settings = [setting('policy', 'cache_aware'), setting('cache-threshold', '0.3'), setting('balance-abs-threshold', '8')];

describe('a change of live settings', () => {
  it('holds what differs, as numbers where they are numbers', () => {
    const changes = changesOf({ policy: 'least_load', 'cache-threshold': ' 0.50 ', 'balance-abs-threshold': '8.0' }, settings);
    expect(changes).toEqual([
      { name: 'policy', from: 'cache_aware', to: 'least_load' },
      { name: 'cache-threshold', from: '0.3', to: '0.50' },
    ]);
    expect(changeBody(changes)).toEqual({ policy: 'least_load', 'cache-threshold': 0.5 });
  });

  it('is nothing when the value is typed anew', () => {
    expect(changesOf({ policy: 'cache_aware', 'cache-threshold': '0.30' }, settings)).toEqual([]);
  });

  it('an emptied number is a change, and a fault', () => {
    expect(changesOf({ 'cache-threshold': '' }, settings)).toHaveLength(1);
    expect(faultOf('cache-threshold', '')).not.toBeNull();
  });
});

describe('what is typed', () => {
  const typed = ['', 'x', '-1', '0', '0.5', '1', '1.5', '8', '1e400', 'cache_aware', 'nonsense'];

  it.each(liveNames.flatMap((name) => typed.map((text) => [name, text] as const)))('%s = "%s" is judged as the router judges it', (name, text) => {
    const isNumber = liveRules[name].kind === 'number';
    const value = isNumber ? (text.trim() === '' ? NaN : Number(text)) : text;
    expect(faultOf(name, text) === null).toBe(changeConfigSchema.safeParse({ [name]: value }).success);
  });

  it('offers exactly the policies the router knows', () => {
    for (const policy of policyChoices) expect(changeConfigSchema.safeParse({ policy }).success).toBe(true);
    const known = changeConfigSchema.shape.policy.unwrap().options;
    expect([...policyChoices].sort()).toEqual([...known].sort());
    expect([...liveNames].sort()).toEqual(Object.keys(changeConfigSchema.shape).sort());
  });
});
