import { z } from 'zod';

import { eventTypes } from '../events.js';
import { listOf } from './list.schema.js';
import { isoTime, roleSchema } from './vocabulary.schema.js';

export const eventTypeSchema = z.enum(eventTypes);

/** One line of the life of the cluster or of the audit log. */
export const eventSchema = z.object({
  /** Numbers of their own, growing over restarts of the router. */
  eventSeq: z.int().positive(),
  at: isoTime,
  type: eventTypeSchema,
  role: roleSchema.optional(),
  endpoint: z.string().optional(),
  /** Worker id. */
  worker: z.string().optional(),
  /** Who did it. */
  actor: z.string().optional(),
  reason: z.string().optional(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
export type EventView = z.infer<typeof eventSchema>;
/** Oldest first; `next` is the `after` of the following page. */
export const eventsAnswerSchema = listOf(eventSchema);
