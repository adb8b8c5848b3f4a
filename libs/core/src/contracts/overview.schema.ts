import { z } from 'zod';

import { seqSchema } from './list.schema.js';

const rate = z.number().nonnegative();
const share = z.number().min(0).max(1).nullable();

export const overviewNowSchema = z.object({
  /** Finished requests a second. */
  rps: rate,
  inflight: z.int().nonnegative(),
  /** In flight, without a worker yet. */
  queued: z.int().nonnegative(),
  /** Part of the finished requests that ended badly for their client; `null` when none finished. */
  errorShare: share,
  /** From arrival to the first body byte; `null` when there was none. */
  ttftMs: z.object({ p50: rate.nullable(), p95: rate.nullable() }),
  /** Completion tokens, as far as engines tell them. */
  tokensPerSecond: rate,
  /** Matched / keyed prompt bytes; `null` when no prompt was placed. */
  hitRate: share,
});
export type OverviewNow = z.infer<typeof overviewNowSchema>;

/** Series that the server keeps: 15 minutes at 1 s, and 24 hours at 1 minute. */
export const seriesNames = ['rps', 'inflight', 'queued', 'errorShare', 'ttftP50Ms', 'ttftP95Ms', 'tokensPerSecond', 'hitRate'] as const;
export type SeriesName = (typeof seriesNames)[number];

/** Unix milliseconds and the value then; `null` = nothing to measure. Ascending. */
export const pointSchema = z.tuple([z.number(), z.number().nullable()]);
export type SeriesPoint = z.infer<typeof pointSchema>;

/** `now` looks back over `windowSecs`, and so do the series. */
export const overviewAnswerSchema = z.object({
  seq: seqSchema,
  windowSecs: z.number().positive(),
  now: overviewNowSchema,
  series: z.record(z.enum(seriesNames), z.array(pointSchema)).optional(),
});
export type OverviewAnswer = z.infer<typeof overviewAnswerSchema>;
