import { type LiveBoard } from '@switchyard/core';
import { type LiveClientEvents, type LiveServerEvents, type LiveSnapshot } from '@switchyard/core/contracts';
import { type Server, type Socket } from 'socket.io';

import { type EventLog } from '../../store/event-log.js';
import { eventView } from '../observe/event-view.js';
import { type LiveLimits } from './live-limits.js';

export type LiveServer = Server<LiveClientEvents, LiveServerEvents>;
export type LiveSocket = Socket<LiveClientEvents, LiveServerEvents>;

/** More events than that are left out, for one who was away: their numbers tell that some are missing. */
const mostEventsBehind = 500;
const mostEventsAtOnce = 200;
/** Pictures that one viewer may ask for before it has got one. */
const mostResyncs = 4;

interface Viewer {
  readonly socket: LiveSocket;
  readonly allowed: () => boolean;
  readonly resyncs: ((snapshot: LiveSnapshot) => void)[];
  /** Number of the last picture it was sent. */
  seq: number;
  /** Number of the last event it was sent. */
  eventSeq: number;
  /** Monotonic milliseconds since which it has not taken what it was sent. */
  stalledSinceMs: number | null;
}

interface AudienceDeps {
  readonly server: LiveServer;
  readonly board: LiveBoard;
  readonly events: Pick<EventLog, 'newestSeq' | 'read'>;
  readonly limits: LiveLimits;
  readonly monotonicMs: () => number;
  readonly dropped: (address: string) => void;
}

/**
 * The viewers of the live stream. All who are on one picture get one message, made once. Who has not taken the last
 * message gets none: what it missed is merged into its next one, so that no viewer ever holds memory beyond one message.
 */
export class LiveAudience {
  readonly #deps: AudienceDeps;
  readonly #viewers = new Map<string, Viewer>();
  #timer: NodeJS.Timeout | null = null;
  #urgent: NodeJS.Timeout | null = null;
  #publishedAtMs = -Infinity;

  constructor(deps: AudienceDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#viewers.size;
  }

  /** Sends `socket` the picture, and from then on what changes, as long as `allowed` says so. */
  add(socket: LiveSocket, allowed: () => boolean): void {
    const { board, events, limits } = this.#deps;
    // With others watching the picture is at most one interval old, and all have to be on the same one.
    if (this.#viewers.size === 0) board.refresh();
    const viewer: Viewer = { socket, allowed, resyncs: [], seq: board.seq, eventSeq: events.newestSeq, stalledSinceMs: null };
    this.#viewers.set(socket.id, viewer);
    socket.on('resync', (...args: unknown[]) => this.#resync(viewer, args.at(-1)));
    socket.on('disconnect', () => this.#remove(socket.id));
    socket.emit('snapshot', board.snapshot());
    this.#timer ??= setInterval(() => this.publish(), limits.intervalMs);
  }

  /** Something has happened that viewers should see at once: after this step, and not more often than is reasonable. */
  publishSoon(): void {
    if (this.#viewers.size === 0) return;
    const { limits, monotonicMs } = this.#deps;
    const waitMs = Math.max(0, this.#publishedAtMs + limits.urgentIntervalMs - monotonicMs());
    this.#urgent ??= setTimeout(() => this.publish(), waitMs);
  }

  publish(): void {
    const { board, events, monotonicMs } = this.#deps;
    if (this.#urgent !== null) clearTimeout(this.#urgent);
    this.#urgent = null;
    this.#publishedAtMs = monotonicMs();
    this.endRefused();
    if (this.#viewers.size === 0) return;
    board.refresh();
    const ready = [...this.#viewers.values()].filter((viewer) => this.#isReady(viewer));

    for (const [eventSeq, viewers] of grouped(ready, ({ eventSeq }) => eventSeq)) {
      if (eventSeq < events.newestSeq) this.#sendEvents(eventSeq, viewers);
    }
    for (const viewer of ready) {
      if (viewer.resyncs.length === 0) continue;
      const snapshot = board.snapshot();
      viewer.seq = snapshot.seq;
      for (const answer of viewer.resyncs.splice(0)) answer(snapshot);
    }
    for (const [seq, viewers] of grouped(ready, (viewer) => viewer.seq)) {
      if (seq === board.seq) continue;
      this.#to(viewers).emit('delta', board.delta(seq));
      for (const viewer of viewers) viewer.seq = board.seq;
    }
    board.forget(Math.min(...[...this.#viewers.values()].map(({ seq }) => seq)));
  }

  /** Ends the connections of viewers whose session is over. */
  endRefused(): void {
    for (const { socket, allowed } of [...this.#viewers.values()]) if (!allowed()) end(socket);
  }

  close(): void {
    for (const { socket } of [...this.#viewers.values()]) end(socket);
    this.#stop();
  }

  #resync(viewer: Viewer, answer: unknown): void {
    if (typeof answer !== 'function') return;
    viewer.resyncs.push(answer as (snapshot: LiveSnapshot) => void);
    if (viewer.resyncs.length > mostResyncs) end(viewer.socket);
  }

  /** Whether it has taken all it was sent; drops it when it has not for too long. */
  #isReady(viewer: Viewer): boolean {
    const { limits, monotonicMs, dropped } = this.#deps;
    const { request } = viewer.socket;
    if (request.socket.writableLength === 0) {
      viewer.stalledSinceMs = null;
      return true;
    }
    viewer.stalledSinceMs ??= monotonicMs();
    if (monotonicMs() - viewer.stalledSinceMs > limits.stalledAfterMs) {
      dropped(request.socket.remoteAddress ?? '');
      end(viewer.socket);
    }
    return false;
  }

  #sendEvents(after: number, viewers: readonly Viewer[]): void {
    const { events } = this.#deps;
    const page = events.read({ after: Math.max(after, events.newestSeq - mostEventsBehind), limit: mostEventsAtOnce, types: null });
    const to = this.#to(viewers);
    for (const event of page) to.emit('event', eventView(event));
    const sent = page.at(-1)?.eventSeq ?? events.newestSeq;
    for (const viewer of viewers) viewer.eventSeq = sent;
  }

  #to(viewers: readonly Viewer[]): ReturnType<LiveServer['to']> {
    return this.#deps.server.to(viewers.map(({ socket }) => socket.id));
  }

  #remove(id: string): void {
    this.#viewers.delete(id);
    if (this.#viewers.size === 0) this.#stop();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#urgent !== null) clearTimeout(this.#urgent);
    this.#timer = null;
    this.#urgent = null;
  }
}

/** At once: one that takes nothing would not take a good-bye either. */
function end(socket: LiveSocket): void {
  const { request } = socket;
  socket.disconnect(true);
  request.socket.destroySoon();
  if (request.socket.writableLength > 0) request.socket.destroy();
}

function grouped(viewers: readonly Viewer[], keyOf: (viewer: Viewer) => number): Map<number, Viewer[]> {
  const groups = new Map<number, Viewer[]>();
  for (const viewer of viewers) {
    const group = groups.get(keyOf(viewer));
    if (group === undefined) groups.set(keyOf(viewer), [viewer]);
    else group.push(viewer);
  }
  return groups;
}
