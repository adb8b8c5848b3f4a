import { Button, NativeSelect, TextInput } from '@mantine/core';
import type { SettingView } from '@switchyard/core/contracts';
import { type JSX, useState } from 'react';

import { plural } from '../../parts/format.js';
import { Panel } from '../../parts/panel.js';
import { ConfirmChange } from './confirm-change.js';
import { type ChangeDraft, changesOf, faultOf, type LiveName, liveNames, liveRules, policyChoices } from './live-change.js';
import styles from './settings.module.css';

/** Policies and thresholds, which an operator may change while the router runs. */
export function LivePanel({ settings }: { readonly settings: readonly SettingView[] }): JSX.Element {
  const [draft, setDraft] = useState<ChangeDraft>({});
  const [confirming, setConfirming] = useState(false);
  const changes = changesOf(draft, settings);
  const faulty = liveNames.some((name) => draft[name] !== undefined && faultOf(name, draft[name]) !== null);
  const fields = liveNames.flatMap((name) => settings.filter((setting) => setting.name === name));
  const blocked = faulty ? 'Mend the marked value first.' : changes.length === 0 ? 'Nothing is changed yet.' : null;

  return (
    <Panel title="Change while it runs" note="holds until the router ends; flags and files stay as they are">
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null) setConfirming(true);
        }}
      >
        <div className={styles['fields']}>
          {fields.map((setting) => (
            <LiveField key={setting.name} setting={setting} name={setting.name as LiveName} typed={draft[setting.name as LiveName]} onType={(name, value) => setDraft({ ...draft, [name]: value })} />
          ))}
        </div>
        <div className={styles['acts']}>
          <Button type="submit" disabled={blocked !== null}>
            Review {changes.length > 0 && !faulty ? plural(changes.length, 'change') : 'changes'}
          </Button>
          {Object.keys(draft).length > 0 && (
            <Button type="button" variant="default" onClick={() => setDraft({})}>
              Discard
            </Button>
          )}
          {blocked !== null && <span className="sy-dim">{blocked}</span>}
        </div>
      </form>
      <ConfirmChange
        opened={confirming}
        changes={changes}
        onClose={() => setConfirming(false)}
        onDone={() => {
          setConfirming(false);
          setDraft({});
        }}
      />
    </Panel>
  );
}

interface LiveFieldProps {
  readonly setting: SettingView;
  readonly name: LiveName;
  readonly typed: string | undefined;
  readonly onType: (name: LiveName, value: string) => void;
}

function LiveField({ setting, name, typed, onType }: LiveFieldProps): JSX.Element {
  const rule = liveRules[name];
  const value = typed ?? setting.shown;
  const differs = typed !== undefined && changesOf({ [name]: typed }, [setting]).length > 0;
  const shared = {
    size: 'sm',
    label: rule.label,
    description: rule.explains,
    value,
    'data-differs': differs || undefined,
    inputWrapperOrder: ['label', 'input', 'error', 'description'],
  } as const;
  if (rule.kind === 'policy') {
    return <NativeSelect {...shared} inputWrapperOrder={['label', 'input', 'error', 'description']} data={[...policyChoices]} onChange={(event) => onType(name, event.currentTarget.value)} />;
  }
  return (
    <TextInput
      {...shared}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      inputMode={rule.whole ? 'numeric' : 'decimal'}
      autoComplete="off"
      error={typed === undefined ? null : faultOf(name, typed)}
      onChange={(event) => onType(name, event.currentTarget.value)}
    />
  );
}
