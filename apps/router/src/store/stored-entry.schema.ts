import { type DrainIntent, eventTypes, type QuarantineEntry, type Registration, roles, sourceKinds } from '@switchyard/core';
import { connectorKindSchema, drainUntilSchema, onDeadlineSchema } from '@switchyard/core/contracts';
import { z } from 'zod';

import { type NumberedEvent } from './store.js';

const role = z.enum(roles);
const text = z.string().nullable();

/** Entries as the database holds them, JSON texts; what does not fit was not written by this router. */
export const storedDrain: z.ZodType<DrainIntent> = z.object({
  role,
  endpoint: z.string(),
  sinceMs: z.number(),
  by: z.string(),
  reason: text,
  until: drainUntilSchema,
  deadlineAtMs: z.number().nullable(),
  onDeadline: onDeadlineSchema,
  overdue: z.boolean(),
  facts: z.object({ zmqAddress: text, instance: text, startedAtSecs: z.number().nullable() }),
});

export const storedQuarantine: z.ZodType<QuarantineEntry> = z.object({
  role,
  endpoint: z.string(),
  sinceMs: z.number(),
  untilMs: z.number().nullable(),
  by: z.string(),
  reason: z.string(),
});

export const storedRegistration: z.ZodType<Registration> = z.object({
  source: z.enum(sourceKinds),
  role,
  endpoint: z.string(),
  zmqAddress: text,
  instance: text,
  group: text,
  connector: z.object({ kind: connectorKindSchema, evidence: z.enum(['label', 'address', 'bootstrap']) }).nullable(),
  transferMode: z.enum(['READ', 'WRITE']).nullable(),
  startedAtSecs: z.number().nullable(),
  models: z.array(z.string()).nullable(),
  ttlMs: z.number().nullable(),
});

/** A whole event, as one row gives it. */
export const storedEvent: z.ZodType<NumberedEvent> = z.object({
  eventSeq: z.number(),
  atMs: z.number(),
  type: z.enum(eventTypes),
  role: role.exactOptional(),
  endpoint: z.string().exactOptional(),
  worker: z.string().exactOptional(),
  actor: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
