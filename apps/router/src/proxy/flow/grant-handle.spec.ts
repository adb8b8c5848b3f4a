import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type AttemptOutcome, type GrantId, type Revocation, type SchedulerPort } from '@switchyard/core';
import { until } from '../testing/proxy-harness.js';
import { GrantBook } from './grant-handle.js';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

const outcome: AttemptOutcome = { phase: 'decode', result: 'succeeded', status: 200, fault: null, timings: { prefillMs: 1, handoffMs: 1, firstByteMs: 1 } };

function setUp(end: () => Promise<void> = () => Promise.resolve()) {
  const ended: [GrantId, AttemptOutcome][] = [];
  const lost: GrantId[] = [];
  const failed: unknown[] = [];
  let revoke: (revocation: Revocation) => void = () => undefined;
  const port = {
    end: (grantId: GrantId, how: AttemptOutcome) => {
      ended.push([grantId, how]);
      return end();
    },
    firstByte: () => Promise.resolve(),
    onRevoked: (listener: (revocation: Revocation) => void) => {
      revoke = listener;
    },
  } as unknown as SchedulerPort;
  const book = new GrantBook(port, { lost: (grantId) => lost.push(grantId), failed: (error) => failed.push(error) });
  return { book, ended, lost, failed, revoke: (grantId: GrantId, abortRunning: boolean) => revoke({ grantId, workerId: 'w', cause: 'departed', abortRunning }) };
}

describe('the handle of a grant', () => {
  it('ends its grant once, with the first outcome', () => {
    const { book, ended } = setUp();
    {
      using handle = book.open(1);
      handle.end(outcome);
      handle.end({ ...outcome, result: 'failed' });
    }
    expect(ended).toEqual([[1, outcome]]);
  });

  it('that is disposed without an outcome ends its grant as cancelled', () => {
    const { book, ended } = setUp();
    {
      using handle = book.open(1);
      expect(handle.revoked).toBe(false);
    }
    expect(ended).toMatchObject([[1, { result: 'cancelled' }]]);
  });

  it('learns of a revocation, also of one that overtakes its grant', () => {
    const { book, revoke } = setUp();
    const first = book.open(1);
    revoke(2, true);
    const second = book.open(2);
    expect([first.revoked, second.revoked, second.aborted]).toEqual([false, true, true]);
    revoke(1, false);
    expect([first.revoked, first.aborted]).toEqual([true, false]);
    first.end(outcome);
    second.end(outcome);
  });

  it('that its owner has lost ends its grant, and says so', async () => {
    const { book, ended, lost } = setUp();
    const kept = book.open(1);
    (() => void book.open(2))();
    await until(() => {
      collect();
      return lost.length > 0;
    }, 'the lost handle is collected');
    expect(lost).toEqual([2]);
    expect(ended).toMatchObject([[2, { result: 'cancelled' }]]);
    kept.end(outcome);
    collect();
    expect(ended).toHaveLength(2);
  });

  it('passes on what the scheduler throws instead of leaving a rejection unhandled', async () => {
    const { book, failed } = setUp(() => Promise.reject(new Error('broken')));
    book.open(1).end(outcome);
    await until(() => failed.length === 1, 'the fault is told');
  });
});
