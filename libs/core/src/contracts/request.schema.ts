import { z } from 'zod';

import { listOf, seqSchema } from './list.schema.js';
import { exclusionReasonSchema, isoTime, phaseSchema, placementReasonSchema } from './vocabulary.schema.js';

const count = z.int().nonnegative();
const durationMs = z.number().nonnegative().nullable();

export const requestSchema = z.object({
  /** As the client sent it, if it did: ids may repeat. */
  requestId: z.string(),
  at: isoTime,
  route: z.string(),
  model: z.string().nullable(),
  stream: z.boolean(),
  state: z.enum(['inflight', 'recent']),
  /** Sent to the client; `null` while none is, or when it left before. */
  status: z.int().nullable(),
  prefillId: z.string().nullable(),
  decodeId: z.string().nullable(),
  /** Worker of an undivided request. */
  singleId: z.string().nullable(),
  totalMs: durationMs,
  firstByteMs: durationMs,
  /** `ok`, `client_gone`, `engine_error` or the code of the router's error; `null` while in flight. */
  outcome: z.string().nullable(),
});
export type RequestView = z.infer<typeof requestSchema>;
export const requestsAnswerSchema = listOf(requestSchema);

export const attemptSchema = z.object({
  phase: phaseSchema,
  candidates: z.array(
    z.object({
      id: z.string(),
      load: count,
      pressure: count,
      turn: z.number(),
      processed: count,
      /** Bytes of the prompt's prefix it was believed to hold. */
      matchBytes: count,
      /** What the policy ordered by; `null` when it does not score. */
      score: z.number().nullable(),
      excluded: exclusionReasonSchema.optional(),
    }),
  ),
  chosen: z.string(),
  reason: placementReasonSchema,
  margin: z.number().nullable(),
  /** `null` while it runs. */
  outcome: z.string().nullable(),
});
export type AttemptView = z.infer<typeof attemptSchema>;

export const receiptSchema = requestSchema.extend({
  seq: seqSchema,
  attempts: z.array(attemptSchema),
  timings: z.object({
    /** Waiting for the first placement. */
    queuedMs: durationMs,
    prefillMs: durationMs,
    handoffMs: durationMs,
    firstByteMs: durationMs,
    totalMs: durationMs,
  }),
  usage: z.object({ promptTokens: count, completionTokens: count }).nullable(),
  /** From the share of the prompt that the prefix index matched; `null` when the engine told no usage. */
  predictedCachedTokens: count.nullable(),
  /** As the engine reported it. */
  reportedCachedTokens: count.nullable(),
});
export type ReceiptView = z.infer<typeof receiptSchema>;
