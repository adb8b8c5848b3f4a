import type { EventView } from '@switchyard/core/contracts';
import { create } from 'zustand';

import { type LivePicture } from './live-picture.js';

/**
 * `connecting`: no picture yet. `live`. `stale`: the connection is lost and the last picture stays. `paused` by the
 * viewer. `asleep`: the tab is hidden.
 */
export type LinkPhase = 'connecting' | 'live' | 'stale' | 'paused' | 'asleep';

export interface LiveLink {
  readonly phase: LinkPhase;
  /** Unix ms of the last message; `null` before the first. */
  readonly heardAt: number | null;
  /** Unix ms of the next try while stale. */
  readonly retryAt: number | null;
}

export interface LiveStore {
  readonly link: LiveLink;
  readonly picture: LivePicture | null;
  /** Heard since this page was opened, newest first, at most `mostEvents`. */
  readonly events: readonly EventView[];
}

export const mostEvents = 500;

export const useLive = create<LiveStore>(() => ({
  link: { phase: 'connecting', heardAt: null, retryAt: null },
  picture: null,
  events: [],
}));
