import { isoTimeOf } from '@switchyard/core';
import { type EventView } from '@switchyard/core/contracts';

import { type NumberedEvent } from '../../store/store.js';

export function eventView({ atMs, ...event }: NumberedEvent): EventView {
  return { ...event, at: isoTimeOf(atMs) };
}
