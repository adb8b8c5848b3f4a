import { z } from 'zod';

import { listOf } from './list.schema.js';

/** A request between the end of its prefill and its first decode byte, or KV that was left behind there. */
export const handoffSchema = z.object({
  requestId: z.string(),
  prefillId: z.string(),
  /** `null` while decode is not chosen. */
  decodeId: z.string().nullable(),
  /**
   * `waiting`: decode is not called yet. `sent`: decode is called and has sent nothing. `stranded`: its client left, and
   * the engine keeps the KV until its own lease passes.
   */
  stage: z.enum(['waiting', 'sent', 'stranded']),
  /** Since the end of prefill; for `stranded`, since the client left. */
  ageMs: z.number().nonnegative(),
  /** Age at which the hand-off is not sent any more, or at which stranded KV is free again. */
  maxAgeMs: z.number().nonnegative(),
});
export type HandoffView = z.infer<typeof handoffSchema>;
export const handoffsAnswerSchema = listOf(handoffSchema);
