import type { EventView } from '@switchyard/core/contracts';

import { allTypes } from './event-filter.js';
import { eventKind, eventSentence } from './event-words.js';

const event = (type: EventView['type'], fields: Partial<EventView> = {}): EventView => ({
  eventSeq: 1,
  at: '2026-01-01T00:00:00.000Z',
  type,
  role: 'decode',
  endpoint: 'http://10.0.0.1:8000',
  worker: 'decode-57',
  detail: {},
  ...fields,
});

describe('an event in words', () => {
  it.each(allTypes)('%s is a sentence', (type) => {
    expect(eventSentence(event(type))).toMatch(/^[A-Za-z].*\.$/);
    expect(eventKind(event(type)).word).not.toBe('');
  });

  it('tells who came for whom, and what was left', () => {
    expect(eventSentence(event('replaced', { detail: { replaces: 'decode-41' } }))).toContain('took the place of decode-41');
    expect(eventSentence(event('expired', { detail: { leases: 1 } }))).toContain('1 request ends on it alone');
    expect(eventSentence(event('expired', { detail: { leases: 0 } }))).not.toContain('alone');
    expect(eventSentence(event('late', { detail: { heartbeatAgeMs: 7200 } }))).toBe('decode-57 is late: its last heartbeat was 7.2 s ago.');
  });

  it('tells what an operator wished', () => {
    const by = { actor: 'operator' } as const;
    expect(eventSentence(event('drain', { ...by, detail: { until: 'undrain', deadlineSecs: 600, forced: true } }))).toBe(
      'operator drains decode-57, also across restarts, within 10 min, by force.',
    );
    expect(eventSentence(event('evict', { ...by, detail: { inflight: 2, abortInflight: true, quarantineSecs: -1 } }))).toBe(
      'operator evicted decode-57 with 2 requests in flight (aborted); quarantined until readmitted.',
    );
    expect(eventSentence(event('config', { ...by, detail: { 'cache-threshold': 0.5, 'cache-threshold before': '0.3' } }))).toBe(
      'operator changed cache-threshold from 0.3 to 0.5.',
    );
    expect(eventSentence(event('undrain'))).toBe('The drain of decode-57 is over.');
  });

  it('names the place when nobody is there', () => {
    const nobody: EventView = { eventSeq: 1, at: '2026-01-01T00:00:00.000Z', type: 'drain', role: 'decode', endpoint: 'http://10.0.0.1:8000', actor: 'operator', detail: {} };
    expect(eventSentence(nobody)).toBe('operator drains the decode worker.');
    expect(eventSentence({ ...nobody, type: 'departed' })).toBe('The decode worker left its pool.');
  });

  it('colours by what is told, not by the type alone', () => {
    expect(eventKind(event('health', { detail: { health: 'healthy' } })).tone).toBe('good');
    expect(eventKind(event('health', { detail: { health: 'unhealthy' } })).tone).toBe('bad');
    expect(eventKind(event('session', { detail: { action: 'refused' } })).tone).toBe('warn');
    expect(eventSentence(event('session', { detail: { action: 'refused', address: '10.0.0.9' } }))).toBe('A login from 10.0.0.9 was refused.');
    expect(eventSentence(event('session', { actor: 'viewer', detail: { action: 'login', address: '::1' } }))).toBe('A session of the viewer began from ::1.');
  });
});
