import { setTimeout as sleep } from 'node:timers/promises';
import { type AdminCall, AdminRefusal, askAdmin } from '../operator/admin-client.js';
import { drainAnswer } from '../operator/admin-answers.schema.js';
import { exitCodes } from '../command.js';
import { type AdminAccess } from '../operator/operator-arguments.js';

export interface DrainBeforeStop {
  readonly access: AdminAccess;
  readonly endpoint: string;
  readonly role: string;
  readonly waitSecs: number;
  readonly log: (line: string) => void;
}

/** The router holds an answer back this long at most, so that a lost connection costs little. */
const sliceSecs = 10;
const retryMs = 1_000;
/** Refusals that pass by themselves. */
const passing: readonly (string | null)[] = ['store_unavailable', 'shutting_down', 'internal_error', null];

/**
 * Drains one role of an endpoint and waits: 0 drained (or unknown to the router), 3 not within `waitSecs`, 1 refused.
 * A router that cannot be reached is asked again until the time is over. `force`, because the engine stops anyway.
 */
export async function drainBeforeStop({ access, endpoint, role, waitSecs, log }: DrainBeforeStop): Promise<number> {
  const deadline = performance.now() + waitSecs * 1000;
  let told = '';
  for (;;) {
    const leftSecs = Math.max(0, (deadline - performance.now()) / 1000);
    const slice = Math.min(sliceSecs, leftSecs);
    const call: AdminCall = {
      method: 'POST',
      path: '/api/v1/endpoints/drain',
      body: { endpoint, role, force: true, reason: 'the engine is being stopped', waitSecs: slice },
      waitSecs: slice,
    };
    try {
      const answer = drainAnswer.safeParse((await askAdmin(access, call)).body);
      if (answer.success && answer.data.drained === true) return exitCodes.ok;
    } catch (error) {
      if (!(error instanceof AdminRefusal)) throw error;
      if (error.code === 'unknown_endpoint') return exitCodes.ok;
      if (told !== error.message) log(error.message);
      told = error.message;
      if (!passing.includes(error.code)) return exitCodes.failed;
      await sleep(Math.min(retryMs, Math.max(0, deadline - performance.now())));
    }
    if (performance.now() >= deadline) return exitCodes.timedOut;
  }
}
