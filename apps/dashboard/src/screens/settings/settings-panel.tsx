import { Checkbox } from '@mantine/core';
import type { SettingView } from '@switchyard/core/contracts';
import { type JSX, useMemo, useState } from 'react';

import { bytes, plural } from '../../parts/format.js';
import { Tag } from '../../parts/mark.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import { SearchBox } from '../../parts/search-box.js';
import { settingGroups } from './setting-groups.js';
import styles from './settings.module.css';
import { sourceMeaning, sourceWord } from './setting-source.js';

/** Every setting in force, by group. */
export function SettingsPanel({ settings }: { readonly settings: readonly SettingView[] }): JSX.Element {
  const [text, setText] = useState('');
  const [changedOnly, setChangedOnly] = useState(false);
  const groups = useMemo(() => settingGroups(settings, text, changedOnly), [settings, text, changedOnly]);
  const changed = settings.reduce((sum, { source }) => sum + (source.kind === 'default' ? 0 : 1), 0);
  return (
    <Panel title="Effective configuration" note={`${plural(settings.length, 'setting')}, ${changed} not at ${changed === 1 ? 'its' : 'their'} default`} flush>
      <div className={styles['filters']} role="search" aria-label="Filter settings">
        <SearchBox className={styles['search']} label="Name, value or source" value={text} onChange={setText} />
        <Checkbox size="xs" label="Only what is not at its default" checked={changedOnly} onChange={(event) => setChangedOnly(event.currentTarget.checked)} />
      </div>
      {groups.length === 0 ? (
        <EmptyState title="No setting fits">
          {changedOnly ? 'Of those that are not at their default, no name, value or source holds these words.' : 'No name, value or source holds these words.'}
        </EmptyState>
      ) : (
        groups.map(({ group, title, settings: members }) => (
          <section key={group} className={styles['group']} aria-label={title}>
            <h3 className={styles['groupTitle']}>{title}</h3>
            <dl className={styles['list']}>
              {members.map((setting) => (
                <SettingRow key={setting.name} setting={setting} />
              ))}
            </dl>
          </section>
        ))
      )}
    </Panel>
  );
}

function SettingRow({ setting: { name, shown, source, live } }: { readonly setting: SettingView }): JSX.Element {
  return (
    <div className={styles['setting']} data-changed={source.kind !== 'default' || undefined}>
      <dt>
        <span className={styles['name']}>{name}</span>
        {live && <Tag title="May be changed while the router runs">live</Tag>}
      </dt>
      <dd className={styles['value']}>{shown === '' ? <span className="sy-dim">not set</span> : shown.split(',').map((part, at) => <Part key={at} text={part} first={at === 0} />)}{readable(name, shown)}</dd>
      <dd className={styles['source']}>
        <span title={sourceMeaning(source)}>{sourceWord(source)}</span>
      </dd>
    </div>
  );
}

/** Large byte counts as one says them. */
function readable(name: string, shown: string): JSX.Element | null {
  const value = Number(shown);
  return name.endsWith('-bytes') && value >= 1024 ? <span className="sy-dim"> ({bytes(value)})</span> : null;
}

/** Lists may break after each comma. */
function Part({ text, first }: { readonly text: string; readonly first: boolean }): JSX.Element {
  return (
    <>
      {!first && (
        <>
          ,<wbr />{' '}
        </>
      )}
      {text}
    </>
  );
}
