import { type ReserveRequest, type SchedulerPort } from '@switchyard/core';

import { timedSchedulerPort } from './timed-scheduler-port.js';

describe('timedSchedulerPort', () => {
  it('measures the placement, not the wait for its promise', async () => {
    const unavailable = { kind: 'unavailable' } as never;
    let answer: (value: never) => void = () => undefined;
    const port = { reserve: () => new Promise((resolve) => (answer = resolve)) } as unknown as SchedulerPort;
    const took: number[] = [];
    const result = timedSchedulerPort(port, (seconds) => took.push(seconds)).reserve({} as ReserveRequest);
    expect(took).toHaveLength(1);
    expect(took[0]).toBeLessThan(0.1);
    answer(unavailable);
    expect(await result).toBe(unavailable);
    expect(took).toHaveLength(1);
  });
});
