import { type EventType, longestWindowSecs, usualWindowSecs } from '@switchyard/core';
import { eventTypeSchema, roleSchema } from '@switchyard/core/contracts';
import { z } from 'zod';

function whole(min: number, max: number): z.ZodType<number, string> {
  return z.string().regex(/^\d{1,16}$/, 'must be a whole number').transform(Number).pipe(z.int().min(min).max(max));
}

const limit = whole(1, 1_000).default(100);
const name = z.string().min(1).max(300);

export const requestsQuery = z.object({
  state: z.enum(['inflight', 'recent']).optional(),
  limit,
  worker: name.optional(),
  model: name.optional(),
});
export type RequestsQuery = z.infer<typeof requestsQuery>;

export const overviewQuery = z.object({ windowSecs: whole(1, longestWindowSecs).default(usualWindowSecs) });
export type OverviewQuery = z.infer<typeof overviewQuery>;

/** Several types as a comma-separated list or as a repeated parameter. */
const types = z
  .union([z.string(), z.array(z.string())])
  .transform((given): string[] => [given].flat().flatMap((part) => part.split(',')))
  .pipe(z.array(eventTypeSchema)) satisfies z.ZodType<EventType[]>;

export const eventsQuery = z.object({ after: whole(0, Number.MAX_SAFE_INTEGER).optional(), limit, type: types.optional() });
export type EventsQuery = z.infer<typeof eventsQuery>;

export const cacheTreeQuery = z.object({
  role: roleSchema.default('prefill'),
  /** Absent = the first there is. */
  model: name.optional(),
  depth: whole(1, 64).default(8),
  limit: whole(1, 2_000).default(200),
});
export type CacheTreeQuery = z.infer<typeof cacheTreeQuery>;
