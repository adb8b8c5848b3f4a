import type { EventView } from '@switchyard/core/contracts';

import { duration, plural } from '../../parts/format.js';

export type EventTone = 'good' | 'info' | 'warn' | 'bad' | 'neutral';
type EventType = EventView['type'];

export interface EventKind {
  readonly word: string;
  readonly tone: EventTone;
}

const kinds: Readonly<Record<EventType, EventKind>> = {
  registered: { word: 'Registered', tone: 'good' },
  replaced: { word: 'Replaced', tone: 'warn' },
  expired: { word: 'Expired', tone: 'bad' },
  departed: { word: 'Departed', tone: 'warn' },
  late: { word: 'Late', tone: 'warn' },
  health: { word: 'Health', tone: 'info' },
  circuit: { word: 'Circuit', tone: 'warn' },
  drain: { word: 'Drain', tone: 'info' },
  drained: { word: 'Drained', tone: 'good' },
  undrain: { word: 'Undrain', tone: 'info' },
  evict: { word: 'Evict', tone: 'bad' },
  readmit: { word: 'Readmit', tone: 'info' },
  added: { word: 'Added', tone: 'info' },
  removed: { word: 'Removed', tone: 'warn' },
  overdue: { word: 'Overdue', tone: 'warn' },
  config: { word: 'Settings', tone: 'info' },
  session: { word: 'Session', tone: 'neutral' },
  takeover: { word: 'Takeover', tone: 'warn' },
  rejected: { word: 'Rejected', tone: 'bad' },
};

/** Its word and colour; what an event tells may be better or worse than its type. */
export function eventKind({ type, detail }: Pick<EventView, 'type' | 'detail'>): EventKind {
  const kind = kinds[type];
  if (type === 'health') return { ...kind, tone: detail['health'] === 'healthy' ? 'good' : detail['health'] === 'suspect' ? 'warn' : 'bad' };
  if (type === 'circuit') return { ...kind, tone: detail['state'] === 'closed' ? 'good' : kind.tone };
  if (type === 'session' && detail['action'] === 'refused') return { ...kind, tone: 'warn' };
  return kind;
}

export const typeWord = (type: EventType): string => kinds[type].word;

/** What operators do and what sessions did, apart from what happens to workers by itself. */
export const operatorTypes: ReadonlySet<EventType> = new Set(['drain', 'undrain', 'evict', 'readmit', 'added', 'removed', 'config', 'session']);

/** What happened, in one sentence; who and where stand beside it. */
export function eventSentence(event: EventView): string {
  const { type, detail, role, reason } = event;
  const whom = event.worker ?? (role === undefined ? 'the worker' : `the ${role} worker`);
  const who = event.worker ?? whom.replace('the', 'The');
  const actor = event.actor ?? 'The router';
  switch (type) {
    case 'registered':
      return `${who} joined the ${role ?? ''} pool.`;
    case 'replaced':
      return `${who} took the place of ${text(detail['replaces'], 'its predecessor')}: a new engine process at the same endpoint.`;
    case 'expired':
      return `${who} stopped sending heartbeats and left its pool${leftWork(detail)}.`;
    case 'departed':
      return `${who} left its pool${leftWork(detail)}.`;
    case 'late':
      return typeof detail['heartbeatAgeMs'] === 'number' ? `${who} is late: its last heartbeat was ${duration(detail['heartbeatAgeMs'])} ago.` : `${who} sends no heartbeats any more.`;
    case 'health':
      return `${who} is ${text(detail['health'], 'unknown')}.`;
    case 'circuit':
      return `The circuit of ${whom} is ${text(detail['state'], 'changed')}.`;
    case 'drain':
      return `${actor} drains ${whom}${detail['until'] === 'undrain' ? ', also across restarts' : ''}${deadline(detail)}${detail['forced'] === true ? ', by force' : ''}.`;
    case 'drained':
      return `${who} is drained${detail['safeToStop'] === true ? ': safe to stop' : ''}.`;
    case 'undrain':
      return event.actor === undefined ? `The drain of ${whom} is over.` : `${actor} lets ${whom} take work again.`;
    case 'evict':
      return `${actor} evicted ${whom}${evicted(detail)}.`;
    case 'readmit':
      return `${actor} readmitted the endpoint.`;
    case 'added':
      return `${actor} added ${whom} by hand.`;
    case 'removed':
      return `${actor} removed ${whom}.`;
    case 'overdue':
      return `The drain of ${whom} is overdue: ${plural(number(detail['leases']), 'request')} still on it${detail['onDeadline'] === 'abort' ? ', now aborted' : ''}.`;
    case 'config':
      return `${actor} changed ${changes(detail)}.`;
    case 'session':
      return sessionSentence(event);
    case 'takeover':
      return `This router took over${reason === undefined ? '' : `: ${reason}`}.`;
    case 'rejected':
      return `A registration was refused${reason === undefined ? '' : `: ${reason}`}.`;
    default:
      return type satisfies never;
  }
}

type Detail = EventView['detail'];
type Value = Detail[string] | undefined;

const text = (value: Value, fallback: string): string => (typeof value === 'string' && value !== '' ? value.replaceAll('_', ' ') : fallback);
const number = (value: Value): number => (typeof value === 'number' ? value : 0);

function leftWork(detail: Detail): string {
  const leases = number(detail['leases']);
  return leases === 0 ? '' : `; ${plural(leases, 'request')} ${leases === 1 ? 'ends' : 'end'} on it alone`;
}

const deadline = ({ deadlineSecs }: Detail): string => (typeof deadlineSecs === 'number' ? `, within ${duration(deadlineSecs * 1000)}` : '');

function evicted(detail: Detail): string {
  const inflight = number(detail['inflight']);
  const work = inflight === 0 ? '' : ` with ${plural(inflight, 'request')} in flight${detail['abortInflight'] === true ? ' (aborted)' : ''}`;
  const secs = detail['quarantineSecs'];
  const quarantine = typeof secs !== 'number' || secs === 0 ? '' : secs < 0 ? '; quarantined until readmitted' : `; quarantined for ${duration(secs * 1000)}`;
  return `${work}${quarantine}`;
}

function changes(detail: Detail): string {
  const names = Object.keys(detail).filter((name) => !name.endsWith(' before'));
  return names.map((name) => `${name} from ${String(detail[`${name} before`] ?? 'its default')} to ${String(detail[name])}`).join(' and ');
}

function sessionSentence({ actor, detail }: EventView): string {
  const from = typeof detail['address'] === 'string' ? ` from ${detail['address']}` : '';
  if (detail['action'] === 'refused') return `A login${from} was refused.`;
  return `${actor === undefined ? 'Somebody' : `A session of the ${actor}`} ${text(detail['action'], 'changed')}${from}.`.replace(' login ', ' began ');
}
