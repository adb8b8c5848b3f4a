import type { ReceiptView } from '@switchyard/core/contracts';

export const stepKinds = ['queue', 'prefill', 'handoff', 'first', 'stream'] as const;
export type StepKind = (typeof stepKinds)[number];

export interface WaterfallStep {
  readonly kind: StepKind;
  readonly label: string;
  readonly startMs: number;
  readonly lengthMs: number;
  /** It still runs: its length grows. */
  readonly running: boolean;
}

type Timed = Pick<ReceiptView, 'timings' | 'state' | 'attempts'>;

/**
 * The parts of a request's time, in order and without gaps. `ageMs` is what has passed since the request came; it bounds
 * the last step while the request is in flight. Steps that were not reached are left out.
 *
 * Prefill and hand-off times are those of the last attempt: time that earlier attempts took lies before its first token.
 */
export function waterfallSteps({ timings, state, attempts }: Timed, ageMs: number): readonly WaterfallStep[] {
  const { queuedMs, prefillMs, handoffMs, firstByteMs, totalMs } = timings;
  const endMs = totalMs ?? ageMs;
  const divided = attempts.some(({ phase }) => phase === 'prefill');
  const retried = attempts.some(({ outcome }, at) => at < attempts.length - 1 && outcome !== 'ok' && outcome !== null);
  const steps: WaterfallStep[] = [];
  let atMs = 0;
  const add = (kind: StepKind, label: string, untilMs: number, running: boolean): void => {
    const lengthMs = Math.max(0, Math.min(untilMs, endMs) - atMs);
    steps.push({ kind, label, startMs: atMs, lengthMs, running: running && state === 'inflight' });
    atMs += lengthMs;
  };

  add('queue', 'Queue', queuedMs ?? endMs, queuedMs === null);
  if (queuedMs === null) return steps;
  if (divided) {
    if (prefillMs === null) {
      add('prefill', 'Prefill', endMs, true);
      return steps;
    }
    add('prefill', 'Prefill', atMs + prefillMs, false);
    if (handoffMs === null && firstByteMs === null) {
      add('handoff', 'Hand-off', endMs, true);
      return steps;
    }
    if (handoffMs !== null) add('handoff', 'Hand-off', atMs + handoffMs, false);
  }
  // While decode runs, the router has told its first byte but not yet the hand-off before it.
  const first = divided && handoffMs === null ? 'Hand-off, first token' : 'First token';
  add('first', retried ? 'Retries, first token' : first, firstByteMs ?? endMs, firstByteMs === null);
  if (firstByteMs !== null) add('stream', divided ? 'Decode' : 'Answer', endMs, true);
  return steps;
}
