import { z } from 'zod';

import { groupLabelForm, zmqAddressForm } from '../registry/registration-fields.js';
import { listOf, seqSchema } from './list.schema.js';
import { drainUntilSchema, isoTime, onDeadlineSchema, roleSchema } from './vocabulary.schema.js';
import { departedWorkerSchema, workerSchema } from './worker.schema.js';

const thirtyDaysSecs = 30 * 24 * 3600;
const reason = z.string().trim().min(1).max(500);
const ifGeneration = z.int().nonnegative().optional();
/** An engine's base URL; the router makes it canonical. */
const url = z.string().min(1).max(400);

export const waitSecsSchema = z.number().min(0).max(24 * 3600);

export const addWorkerSchema = z.strictObject({
  role: roleSchema,
  url,
  zmqAddress: z.string().regex(zmqAddressForm, 'must be 1 to 256 visible ASCII characters without ___').optional(),
  models: z.array(z.string().min(1).max(300)).min(1).max(100).optional(),
  group: z.string().regex(groupLabelForm, 'must be 1 to 128 letters, digits, dots, dashes or underscores').optional(),
});
export type AddWorker = z.infer<typeof addWorkerSchema>;

const drainFields = {
  reason: reason.optional(),
  deadlineSecs: z.number().min(0.05).max(thirtyDaysSecs).optional(),
  onDeadline: onDeadlineSchema.default('flag'),
  until: drainUntilSchema.default('restart'),
  /** Also when some model cannot be placed afterwards. */
  force: z.boolean().default(false),
  ifGeneration,
};

export const drainWorkerSchema = z.strictObject(drainFields);
export type DrainWorker = z.infer<typeof drainWorkerSchema>;

export const undrainWorkerSchema = z.strictObject({ ifGeneration });
export type UndrainWorker = z.infer<typeof undrainWorkerSchema>;

export const evictWorkerSchema = z.strictObject({
  reason,
  /** 0 = none, -1 = until readmitted. */
  quarantineSecs: z.union([z.literal(-1), z.number().min(0).max(thirtyDaysSecs)]).default(300),
  abortInflight: z.boolean().default(false),
  force: z.boolean().default(false),
  ifGeneration,
});
export type EvictWorker = z.infer<typeof evictWorkerSchema>;

export const evictAnswerSchema = z.object({
  id: z.string(),
  inflight: z.int().nonnegative(),
  /** `null` = no quarantine; `readmit` = until an operator readmits it. */
  quarantinedUntil: z.union([isoTime, z.literal('readmit')]).nullable(),
});
export type EvictAnswer = z.infer<typeof evictAnswerSchema>;

export const removalActions = ['drain', 'evict'] as const;
export type RemovalAction = (typeof removalActions)[number];

/** What an action on a worker would mean now. */
export const consequencesSchema = z.object({
  action: z.enum(removalActions),
  leasesNow: z.int().nonnegative(),
  holdsNow: z.int().nonnegative(),
  /** Of the pool of its role, before and after. */
  poolSelectableBefore: z.int().nonnegative(),
  poolSelectableAfter: z.int().nonnegative(),
  poolTotal: z.int().nonnegative(),
  /** What could be placed now and not afterwards: the action is refused without `force`. `model` `null` = any by no name. */
  wouldStrand: z.object({ role: roleSchema, model: z.string().nullable(), group: z.string() }).nullable(),
});
export type ConsequencesView = z.infer<typeof consequencesSchema>;

const endpointFields = {
  endpoint: url,
  /** Absent = all roles there. */
  role: roleSchema.optional(),
  waitSecs: waitSecsSchema.optional(),
};

export const drainEndpointSchema = z.strictObject({ ...drainFields, ...endpointFields });
export type DrainEndpoint = z.infer<typeof drainEndpointSchema>;

/** A drain that only an operator ends. */
export const cordonEndpointSchema = z.strictObject({ ...drainFields, ...endpointFields, until: z.literal('undrain').default('undrain') });
export type CordonEndpoint = z.infer<typeof cordonEndpointSchema>;

export const undrainEndpointSchema = z.strictObject({ endpoint: url, role: roleSchema.optional(), ifGeneration });
export type UndrainEndpoint = z.infer<typeof undrainEndpointSchema>;

export const endpointAnswerSchema = z.object({ items: z.array(workerSchema), drained: z.boolean(), seq: seqSchema });
export type EndpointAnswer = z.infer<typeof endpointAnswerSchema>;

export const drainIntentSchema = z.object({
  role: roleSchema,
  endpoint: z.string(),
  since: isoTime,
  by: z.string(),
  reason: z.string().nullable(),
  until: drainUntilSchema,
  deadlineAt: isoTime.nullable(),
  onDeadline: onDeadlineSchema,
  overdue: z.boolean(),
  /** Current worker there, if any. */
  workerId: z.string().nullable(),
});
export type DrainIntentView = z.infer<typeof drainIntentSchema>;
export const drainsAnswerSchema = listOf(drainIntentSchema);

export const quarantineEntrySchema = z.object({
  role: roleSchema,
  endpoint: z.string(),
  since: isoTime,
  /** `null` = until readmitted. */
  until: isoTime.nullable(),
  by: z.string(),
  reason: z.string(),
});
export type QuarantineView = z.infer<typeof quarantineEntrySchema>;
export const quarantineAnswerSchema = listOf(quarantineEntrySchema);

export const departedAnswerSchema = listOf(departedWorkerSchema);
