import type { Method } from '../api/client.js';

/** One call of the admin API that changes something: it is sent, and shown as curl. */
export interface ActionCall {
  readonly method: Method;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface DrainChoice {
  readonly reason: string;
  /** `null` = none. */
  readonly deadlineSecs: number | null;
  readonly onDeadline: 'flag' | 'abort';
  readonly until: 'restart' | 'undrain';
}

export interface EvictChoice {
  readonly reason: string;
  /** -1 = until readmitted, 0 = none. */
  readonly quarantineSecs: number;
  readonly abortInflight: boolean;
}

/** The worker an action is meant for: the generation that was seen, never a successor. */
export interface Target {
  readonly id: string;
  readonly generation: number;
}

const pathOf = ({ id }: Target, verb: string): string => `/api/v1/workers/${encodeURIComponent(id)}/${verb}`;

export function drainCall(target: Target, { reason, deadlineSecs, onDeadline, until }: DrainChoice, force: boolean): ActionCall {
  return {
    method: 'POST',
    path: pathOf(target, 'drain'),
    body: {
      ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
      ...(deadlineSecs === null ? {} : { deadlineSecs, onDeadline }),
      until,
      ...(force ? { force } : {}),
      ifGeneration: target.generation,
    },
  };
}

export const undrainCall = (target: Target): ActionCall => ({ method: 'POST', path: pathOf(target, 'undrain'), body: { ifGeneration: target.generation } });

export function evictCall(target: Target, { reason, quarantineSecs, abortInflight }: EvictChoice, force: boolean): ActionCall {
  return {
    method: 'POST',
    path: pathOf(target, 'evict'),
    body: { reason: reason.trim(), quarantineSecs, abortInflight, ...(force ? { force } : {}), ifGeneration: target.generation },
  };
}

export const readmitCall = (role: string, endpoint: string): ActionCall => ({
  method: 'DELETE',
  path: `/api/v1/quarantine/${role}/${encodeURIComponent(endpoint)}`,
});
