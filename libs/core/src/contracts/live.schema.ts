import { type EventView } from './event.schema.js';
import { type HandoffView } from './handoff.schema.js';
import { type OverviewNow } from './overview.schema.js';
import { type PoolsView, type WorkerView } from './worker.schema.js';

/**
 * The live stream of the admin port: socket.io, engine path `/live`, default namespace, websocket only. Each message is
 * one socket.io event with one argument. Shapes are types and not schemas: the sender is the router itself.
 */
export const livePath = '/live';

/** Everything that is followed live. */
export interface LiveState {
  readonly workers: readonly WorkerView[];
  readonly pools: PoolsView;
  readonly overview: OverviewNow;
  /** Requests between their prefill and their first decode byte, oldest first; at most `mostHandoffs`. */
  readonly handoffs: readonly HandoffView[];
}

/** One step from a state to the next; workers are replaced whole. */
export type LiveChange =
  | { readonly op: 'set'; readonly worker: WorkerView }
  | { readonly op: 'del'; readonly id: string }
  | { readonly op: 'pools'; readonly pools: PoolsView }
  | { readonly op: 'overview'; readonly overview: OverviewNow }
  | { readonly op: 'handoffs'; readonly handoffs: readonly HandoffView[] };

/** Sent on connect, and as the acknowledgement of `resync`. */
export interface LiveSnapshot {
  readonly seq: number;
  readonly state: LiveState;
}

/** Applies to the state numbered `from`, the `seq` of the message before it to this viewer; a gap asks for `resync`. */
export interface LiveDelta {
  readonly from: number;
  readonly seq: number;
  readonly changes: readonly LiveChange[];
}

/** All messages of the server, by their event name. */
export type LiveMessage =
  | { readonly name: 'snapshot'; readonly data: LiveSnapshot }
  | { readonly name: 'delta'; readonly data: LiveDelta }
  | { readonly name: 'event'; readonly data: EventView };

/** As socket.io types want them. */
export type LiveServerEvents = {
  readonly [M in LiveMessage as M['name']]: (data: M['data']) => void;
};

export interface LiveClientEvents {
  readonly resync: (answer: (snapshot: LiveSnapshot) => void) => void;
}

export const mostHandoffs = 200;
