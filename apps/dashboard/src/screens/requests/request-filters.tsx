import { NativeSelect } from '@mantine/core';
import type { RequestView } from '@switchyard/core/contracts';
import { type JSX, useMemo } from 'react';

import { useLive } from '../../live/live-store.js';
import { Choice } from '../../parts/choice.js';
import { SearchBox } from '../../parts/search-box.js';
import { outcomeChoices, type RequestFilter, stateChoices } from './request-filter.js';
import styles from './requests.module.css';

const stateNames = { all: 'All', inflight: 'In flight', recent: 'Recent' } as const;
const outcomeNames = { all: 'Any outcome', good: 'OK', neutral: 'Client left', bad: 'Failed' } as const;

export interface RequestFiltersProps {
  readonly filter: RequestFilter;
  /** What there is to choose from. */
  readonly requests: readonly RequestView[];
  readonly onChange: (filter: RequestFilter) => void;
}

export function RequestFilters({ filter, requests, onChange }: RequestFiltersProps): JSX.Element {
  const live = useLive(({ picture }) => picture?.workers);
  const workers = useMemo(() => {
    const ids = new Set<string>(live?.keys());
    for (const { prefillId, decodeId, singleId } of requests) for (const id of [prefillId, decodeId, singleId]) if (id !== null) ids.add(id);
    return choices('Any worker', ids, filter.worker);
  }, [live, requests, filter.worker]);
  const models = useMemo(() => choices('Any model', new Set(requests.flatMap(({ model }) => model ?? [])), filter.model), [requests, filter.model]);

  return (
    <div className={styles['filters']} role="search" aria-label="Filter requests">
      <Choice
        label="State"
        options={stateChoices.map((value) => ({ value, label: stateNames[value] }))}
        value={filter.state}
        onChange={(state) => onChange({ ...filter, state })}
      />
      <NativeSelect
        size="xs"
        aria-label="Outcome"
        data={outcomeChoices.map((value) => ({ value, label: outcomeNames[value] }))}
        value={filter.outcome}
        onChange={({ currentTarget: { value } }) => onChange({ ...filter, outcome: outcomeChoices.find((choice) => choice === value) ?? 'all' })}
      />
      <NativeSelect size="xs" aria-label="Worker" data={workers} value={filter.worker} onChange={(event) => onChange({ ...filter, worker: event.currentTarget.value })} />
      <NativeSelect size="xs" aria-label="Model" data={models} value={filter.model} onChange={(event) => onChange({ ...filter, model: event.currentTarget.value })} />
      <SearchBox className={styles['search']} label="Id, route, model or status" value={filter.text} onChange={(text) => onChange({ ...filter, text })} />
    </div>
  );
}

function choices(any: string, values: ReadonlySet<string>, chosen: string): { value: string; label: string }[] {
  const all = new Set(values);
  if (chosen !== '') all.add(chosen);
  const sorted = [...all].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return [{ value: '', label: any }, ...sorted.map((value) => ({ value, label: value }))];
}
