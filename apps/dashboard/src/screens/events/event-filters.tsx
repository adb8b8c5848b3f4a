import { NativeSelect } from '@mantine/core';
import type { EventView } from '@switchyard/core/contracts';
import { type JSX, useMemo } from 'react';

import { Choice } from '../../parts/choice.js';
import { SearchBox } from '../../parts/search-box.js';
import { allTypes, type EventFilter, kindChoices, typesOf } from './event-filter.js';
import { typeWord } from './event-words.js';
import styles from './events.module.css';

const kindNames = { all: 'All', cluster: 'Cluster', operators: 'Operators' } as const;

export interface EventFiltersProps {
  readonly filter: EventFilter;
  /** What there is to choose from. */
  readonly events: readonly EventView[];
  readonly onChange: (filter: EventFilter) => void;
}

export function EventFilters({ filter, events, onChange }: EventFiltersProps): JSX.Element {
  const actors = useMemo(() => {
    const names = new Set(events.flatMap(({ actor }) => actor ?? []));
    if (filter.actor !== '') names.add(filter.actor);
    return [{ value: '', label: 'Any actor' }, ...[...names].sort().map((value) => ({ value, label: value }))];
  }, [events, filter.actor]);
  return (
    <div className={styles['filters']} role="search" aria-label="Filter events">
      <Choice
        label="Kind"
        options={kindChoices.map((value) => ({ value, label: kindNames[value] }))}
        value={filter.kind}
        onChange={(kind) => onChange({ ...filter, kind, type: '' })}
      />
      <NativeSelect
        size="xs"
        aria-label="Type"
        data={[{ value: '', label: 'Any type' }, ...typesOf(filter.kind).map((value) => ({ value, label: typeWord(value) }))]}
        value={filter.type}
        onChange={({ currentTarget: { value } }) => onChange({ ...filter, type: allTypes.find((type) => type === value) ?? '' })}
      />
      <NativeSelect size="xs" aria-label="Actor" data={actors} value={filter.actor} onChange={(event) => onChange({ ...filter, actor: event.currentTarget.value })} />
      <SearchBox className={styles['search']} label="Worker, endpoint or reason" value={filter.text} onChange={(text) => onChange({ ...filter, text })} />
    </div>
  );
}
