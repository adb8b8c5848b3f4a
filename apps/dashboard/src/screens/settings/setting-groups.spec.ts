import type { SettingView } from '@switchyard/core/contracts';

import { settingGroups } from './setting-groups.js';
import { sourceMeaning, sourceWord } from './setting-source.js';

const setting = (name: string, group: string, shown: string, kind: SettingView['source']['kind'] = 'default', label = 'default'): SettingView => ({
  name,
  group,
  value: shown,
  shown,
  source: { kind, label },
  live: false,
});
const all = [setting('port', 'api', '8000', 'flag', '--port'), setting('host', 'api', '0.0.0.0'), setting('log-level', 'log', 'info'), setting('odd', 'novel', '1')];
const names = (text: string, changedOnly = false): (readonly [string, readonly string[]])[] =>
  settingGroups(all, text, changedOnly).map(({ title, settings }) => [title, settings.map(({ name }) => name)]);

describe('settings by group', () => {
  it('keep the order of the router, and have a heading even when the group is new', () => {
    expect(names('')).toEqual([
      ['API port', ['port', 'host']],
      ['Logs', ['log-level']],
      ['Novel', ['odd']],
    ]);
  });

  it('are found by name, value, group and source', () => {
    expect(names('LOG-')).toEqual([['Logs', ['log-level']]]);
    expect(names('0.0.0.0')).toEqual([['API port', ['host']]]);
    expect(names('flag')).toEqual([['API port', ['port']]]);
    expect(names('api 8000')).toEqual([['API port', ['port']]]);
    expect(names('nothing like it')).toEqual([]);
  });

  it('can leave out defaults', () => {
    expect(names('', true)).toEqual([['API port', ['port']]]);
  });
});

describe('the source of a value', () => {
  it.each([
    [{ kind: 'flag', label: '--port' }, '--port'],
    [{ kind: 'env', label: 'SWITCHYARD_PORT' }, 'SWITCHYARD_PORT'],
    [{ kind: 'file', label: 'a.yaml' }, 'a.yaml'],
    [{ kind: 'default', label: 'default' }, 'default'],
    [{ kind: 'admin', label: 'admin API' }, 'operator'],
  ] as const)('%j', (source, word) => {
    expect(sourceWord(source)).toBe(word);
    expect(sourceMeaning(source)).not.toBe('');
  });
});
