import type { LiveClientEvents, LiveMessage, LiveServerEvents, LiveSnapshot } from '@switchyard/core/contracts';
import { io, type Socket } from 'socket.io-client';

import { pictureOf, withDelta } from './live-picture.js';
import { type LinkPhase, mostEvents, useLive } from './live-store.js';

const silenceMs = 5000;
const answerMs = 3000;
const retryMs = [500, 1000, 2000, 4000, 5000] as const;
/** A short look at another tab does not cost a reconnect. */
const sleepAfterMs = 15_000;

export interface LiveHooks {
  /** The handshake failed, so the session may be gone. */
  readonly onRefused: () => void;
  /** A snapshot came after a time without: what was read by other ways may be old. */
  readonly onRegained: () => void;
}

/**
 * Follows the live stream into the store until it is closed. The page paces its own retries, because it shows when the
 * next one is due.
 */
export class LiveSocket {
  #socket: Socket<LiveServerEvents, LiveClientEvents> | null = null;
  #failures = 0;
  #paused = false;
  #closed = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;
  #sleep: ReturnType<typeof setTimeout> | undefined;
  #resyncing = false;
  readonly #hooks: LiveHooks;

  constructor(hooks: LiveHooks) {
    this.#hooks = hooks;
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#watch = setInterval(() => {
      this.#checkSilence();
    }, 1000);
    this.#connect();
  }

  setPaused(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    if (paused) this.#rest('paused');
    else this.#wake();
  }

  close(): void {
    this.#closed = true;
    document.removeEventListener('visibilitychange', this.#onVisibility);
    clearInterval(this.#watch);
    clearTimeout(this.#sleep);
    this.#drop();
  }

  readonly #onVisibility = (): void => {
    clearTimeout(this.#sleep);
    if (document.hidden) this.#sleep = setTimeout(() => (this.#paused ? undefined : this.#rest('asleep')), sleepAfterMs);
    else if (!this.#paused && useLive.getState().link.phase === 'asleep') this.#wake();
  };

  #rest(phase: LinkPhase): void {
    this.#drop();
    this.#setLink({ phase, retryAt: null });
  }

  #wake(): void {
    this.#failures = 0;
    this.#connect();
  }

  #drop(): void {
    clearTimeout(this.#retry);
    this.#resyncing = false;
    this.#socket?.removeAllListeners();
    this.#socket?.disconnect();
    this.#socket = null;
  }

  #connect(): void {
    this.#drop();
    const socket: Socket<LiveServerEvents, LiveClientEvents> = io(window.location.origin, {
      path: '/live',
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      timeout: answerMs,
    });
    this.#socket = socket;
    const isRegained = useLive.getState().picture !== null;
    socket.on('snapshot', (data) => {
      this.#receive({ name: 'snapshot', data });
      if (isRegained) this.#hooks.onRegained();
    });
    socket.on('delta', (data) => this.#receive({ name: 'delta', data }));
    socket.on('event', (data) => this.#receive({ name: 'event', data }));
    socket.on('connect_error', () => {
      this.#hooks.onRefused();
      this.#lost();
    });
    socket.on('disconnect', () => {
      this.#lost();
    });
  }

  #receive(message: LiveMessage): void {
    const { picture, events } = useLive.getState();
    switch (message.name) {
      case 'snapshot':
        this.#paint(message.data);
        return;
      case 'delta': {
        if (picture === null || this.#resyncing) return;
        const next = withDelta(picture, message.data, performance.now());
        if (next === null) this.#resync();
        else useLive.setState({ picture: next, link: { phase: 'live', heardAt: Date.now(), retryAt: null } });
        return;
      }
      case 'event':
        if (events.some(({ eventSeq }) => eventSeq === message.data.eventSeq)) return;
        useLive.setState({ events: [message.data, ...events].slice(0, mostEvents) });
        this.#setLink({ heardAt: Date.now() });
        return;
      default:
        message satisfies never;
    }
  }

  #paint(snapshot: LiveSnapshot): void {
    this.#failures = 0;
    this.#resyncing = false;
    useLive.setState({
      picture: pictureOf(snapshot, performance.now()),
      link: { phase: 'live', heardAt: Date.now(), retryAt: null },
    });
  }

  #resync(): void {
    const socket = this.#socket;
    if (socket === null || this.#resyncing) return;
    this.#resyncing = true;
    socket.timeout(answerMs).emit('resync', (error: Error | null, snapshot: LiveSnapshot) => {
      if (socket !== this.#socket) return;
      if (error === null) this.#paint(snapshot);
      else this.#lost();
    });
  }

  /** A quiet cluster sends little; a router that hangs sends nothing and answers nothing. */
  #checkSilence(): void {
    const { link } = useLive.getState();
    if (link.phase === 'live' && link.heardAt !== null && Date.now() - link.heardAt > silenceMs) this.#resync();
  }

  #lost(): void {
    if (this.#closed) return;
    this.#drop();
    const delayMs = retryMs[Math.min(this.#failures, retryMs.length - 1)] ?? 5000;
    this.#failures += 1;
    this.#retry = setTimeout(() => {
      this.#connect();
    }, delayMs);
    const { picture } = useLive.getState();
    this.#setLink({ phase: picture === null ? 'connecting' : 'stale', retryAt: Date.now() + delayMs });
  }

  #setLink(change: Partial<ReturnType<typeof useLive.getState>['link']>): void {
    useLive.setState(({ link }) => ({ link: { ...link, ...change } }));
  }
}
