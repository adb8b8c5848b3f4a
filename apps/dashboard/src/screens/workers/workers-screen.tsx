import { Button, Checkbox, Skeleton, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconColumns3, IconSearch } from '@tabler/icons-react';
import { type JSX, useCallback, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';

import { openDrain, useActionStore } from '../../actions/action-store.js';
import { OutOfPool } from '../../actions/out-of-pool.js';
import { useMayAct } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { useWorkers } from '../../live/use-workers.js';
import { Disclosure } from '../../parts/disclosure.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import { StatusLegend } from '../../parts/status-legend.js';
import { FirstEngines } from '../overview/first-engines.js';
import { BulkBar } from './bulk-bar.js';
import { RoleChoice } from './role-choice.js';
import { WorkerDrawer } from './worker-drawer.js';
import { workerColumns } from './worker-columns.js';
import { filterWorkers, type WorkerFilter } from './worker-filter.js';
import { type WorkerTableModel, useWorkerTableModel } from './worker-table-model.js';
import { WorkerTable } from './worker-table.js';
import styles from './worker-table.module.css';

/** All workers, what is odd about each, and what can be done with it. */
export function WorkersScreen(): JSX.Element {
  const known = useLive((state) => state.picture !== null);
  const all = useWorkers();
  const mayAct = useMayAct();
  const [params, setParams] = useSearchParams();
  const openId = params.get('worker');
  const [filter, setFilter] = useState<WorkerFilter>({ role: null, text: '', hideHealthy: false });
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<{ readonly id: string | null; readonly focus: number }>({ id: openId, focus: 0 });
  const filterBox = useRef<HTMLInputElement>(null);

  const shown = useMemo(() => filterWorkers(all, filter), [all, filter]);
  const model = useWorkerTableModel(shown, all);
  const { rows } = model;
  const present = useMemo(() => all.filter(({ id }) => picked.has(id)), [all, picked]);

  const open = useCallback(
    (id: string | null) => {
      setParams(id === null ? {} : { worker: id }, { replace: true });
    },
    [setParams],
  );
  const pick = useCallback((id: string, isPicked: boolean) => {
    setPicked((before) => {
      const next = new Set(before);
      if (isPicked) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const activate = useCallback((id: string) => {
    setActive((before) => (before.id === id ? before : { ...before, id }));
  }, []);

  const isFree = (): boolean => openId === null && useActionStore.getState().open === null;
  const step = (by: number): void => {
    if (!isFree() || rows.length === 0) return;
    const at = rows.findIndex(({ id }) => id === active.id);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))];
    if (next !== undefined) setActive(({ focus }) => ({ id: next.id, focus: focus + 1 }));
  };
  useHotkeys([
    ['/', () => isFree() && filterBox.current?.focus()],
    ['j', () => step(1)],
    ['ArrowDown', () => step(1)],
    ['k', () => step(-1)],
    ['ArrowUp', () => step(-1)],
    ['x', () => isFree() && mayAct && active.id !== null && pick(active.id, !picked.has(active.id))],
    [
      'd',
      () => {
        if (!mayAct || useActionStore.getState().open !== null) return;
        if (openId !== null) openDrain([openId]);
        else if (present.length > 0) openDrain(present.map(({ id }) => id));
        else if (active.id !== null) openDrain([active.id]);
      },
    ],
  ]);

  if (!known) return <Skeleton height={360} aria-label="Waiting for the router" />;
  return (
    <div style={{ display: 'flex', flexDirection: 'column', gap: 'var(--sy-gap)' }}>
      <h1 className="sy-hidden">Workers</h1>
      {all.length === 0 ? (
        <FirstEngines />
      ) : (
        <Panel title="Workers" note={rows.length === all.length ? all.length : `${rows.length} of ${all.length}`} side={<ColumnChooser model={model} />} flush>
          <div className={styles['toolbar']}>
            <TextInput
              ref={filterBox}
              className={styles['filter'] ?? ''}
              size="xs"
              aria-label="Filter workers"
              placeholder="Filter: name, host, model, state …  ( / )"
              leftSection={<IconSearch size={14} />}
              value={filter.text}
              onChange={({ currentTarget: { value } }) => setFilter({ ...filter, text: value })}
              onKeyDown={(event) => {
                if (event.key === 'Escape') event.currentTarget.blur();
                if (event.key === 'Enter' || event.key === 'ArrowDown') {
                  event.preventDefault();
                  const [first] = rows;
                  if (first !== undefined) setActive(({ focus }) => ({ id: first.id, focus: focus + 1 }));
                }
              }}
            />
            <RoleChoice workers={all} value={filter.role} onChange={(role) => setFilter({ ...filter, role })} />
            <Checkbox size="xs" label="Hide healthy" checked={filter.hideHealthy} onChange={({ currentTarget: { checked } }) => setFilter({ ...filter, hideHealthy: checked })} />
          </div>
          {present.length > 0 && <BulkBar workers={present} onClear={() => setPicked(new Set())} />}
          {rows.length === 0 ? (
            <EmptyState title="No worker matches">
              {filter.hideHealthy && filter.text === '' ? 'All of them are healthy.' : 'Loosen the filter to see more.'}
              <div>
                <Button mt="xs" variant="default" onClick={() => setFilter({ role: null, text: '', hideHealthy: false })}>
                  Show all
                </Button>
              </div>
            </EmptyState>
          ) : (
            <WorkerTable
              model={model}
              picked={picked}
              canPick={mayAct}
              activeId={active.id}
              focusRequest={active.focus}
              onPick={pick}
              onPickAll={(isPicked) => setPicked(new Set(isPicked ? rows.map(({ id }) => id) : []))}
              onActive={activate}
              onOpen={open}
            />
          )}
          <div className={styles['legend']}>
            <StatusLegend />
          </div>
        </Panel>
      )}
      <OutOfPool />
      <WorkerDrawer
        id={openId}
        onOpen={open}
        onClose={() => {
          open(null);
          setActive(({ id, focus }) => ({ id: openId ?? id, focus: focus + 1 }));
        }}
      />
    </div>
  );
}

function ColumnChooser({ model }: { readonly model: WorkerTableModel }): JSX.Element {
  return (
    <Disclosure label="Columns" icon={<IconColumns3 size={14} />}>
      {workerColumns.map(({ id, name }) => (
        <Checkbox key={id} size="xs" label={name} checked={model.isShown(id)} onChange={({ currentTarget: { checked } }) => model.show(id, checked)} />
      ))}
      <Button variant="default" size="compact-xs" onClick={model.showDefaults}>
        Default columns
      </Button>
    </Disclosure>
  );
}
