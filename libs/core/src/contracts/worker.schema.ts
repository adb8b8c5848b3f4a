import { z } from 'zod';

import { seqSchema } from './list.schema.js';
import {
  adminStateSchema,
  circuitStateSchema,
  connectorEvidenceSchema,
  connectorKindSchema,
  drainUntilSchema,
  healthSchema,
  heartbeatSchema,
  isoTime,
  leaveReasonSchema,
  phaseSchema,
  roleSchema,
  sourceKindSchema,
  unselectableReasonSchema,
} from './vocabulary.schema.js';

const count = z.int().nonnegative();
const ageMs = z.number().nonnegative();

export const workerSchema = z.object({
  /** `<role>-<generation>`. */
  id: z.string(),
  role: roleSchema,
  endpoint: z.string(),
  zmqAddress: z.string().nullable(),
  generation: count,
  /** Who states that it exists, best word first. */
  sources: z.array(sourceKindSchema),
  /** Pairing group: label, else engine version, else `*`. */
  group: z.string(),
  connector: z.object({ kind: connectorKindSchema, evidence: connectorEvidenceSchema }),
  models: z.array(z.string()),
  /** False: its models are not learnt yet, and it may serve any. */
  modelsKnown: z.boolean(),
  adminState: adminStateSchema,
  drain: z
    .object({
      since: isoTime,
      by: z.string(),
      reason: z.string().nullable(),
      deadlineAt: isoTime.nullable(),
      until: drainUntilSchema,
      overdue: z.boolean(),
    })
    .nullable(),
  health: healthSchema,
  heartbeat: heartbeatSchema,
  circuit: circuitStateSchema,
  selectable: z.boolean(),
  unselectableBecause: z.array(unselectableReasonSchema),
  /** Live leases. */
  load: count,
  /** Claims that are not load but forbid calling it drained. */
  holds: z.object({ kvOut: count, bound: count }),
  /** Work left on earlier generations of this role and endpoint whose process is not proven gone. */
  departedWork: z.object({ leases: count, holds: count }),
  safeToStop: z.boolean(),
  /** Leases + bound holds: what policies compare. */
  pressure: count,
  /** Leases begun on this generation: succeeded + failed + cancelled + load. */
  processed: count,
  succeeded: count,
  failed: count,
  cancelled: count,
  registeredAt: isoTime,
  lastHeartbeatAt: isoTime.nullable(),
  /** On the listening clock, which stands still while the router cannot hear. */
  heartbeatAgeMs: ageMs.nullable(),
  /** On the listening clock. */
  expiresInMs: ageMs.nullable(),
  cache: z.object({
    /** Prompt bytes whose KV it is believed to hold. */
    coveredBytes: count,
    /** Its part of what its whole pool holds, 0..1. */
    share: z.number().min(0).max(1),
  }),
  /** Smoothed; `null` before the first answer. */
  latency: z
    .object({ prefillMs: ageMs.nullable(), firstByteMs: ageMs.nullable(), perChunkMs: ageMs.nullable() })
    .nullable(),
  /** How often its endpoint came and went in this role. Flapping: 3 or more lifetimes within 5 minutes. */
  flaps: z.object({ joinsLastHour: count, leavesLastHour: count, flapping: z.boolean() }),
  /** What the engine says of itself; `null` when nothing is known. */
  engine: z
    .object({
      version: z.string().nullable(),
      startedAt: isoTime.nullable(),
      running: z.number().nullable(),
      waiting: z.number().nullable(),
      kvUsage: z.number().nullable(),
      ageMs: ageMs.nullable(),
    })
    .nullable(),
}).meta({ id: 'Worker' });
export type WorkerView = z.infer<typeof workerSchema>;

const leftFields = { leftAt: isoTime, leftReason: leaveReasonSchema };

/** A worker that left its pool but still has work. */
export const departedWorkerSchema = workerSchema.extend(leftFields);
export type DepartedWorkerView = z.infer<typeof departedWorkerSchema>;

export const workerDetailSchema = workerSchema.extend({
  leftAt: leftFields.leftAt.optional(),
  leftReason: leftFields.leftReason.optional(),
  seq: seqSchema,
  inflight: z.array(
    z.object({ requestId: z.string(), phase: phaseSchema, model: z.string().nullable(), ageMs, stream: z.boolean() }),
  ),
  holdList: z.array(z.object({ requestId: z.string(), kind: z.enum(['kvOut', 'bound']), ageMs })),
  /** Lifetimes of the same role and endpoint, oldest first, this one included. */
  generations: z.array(
    z.object({
      generation: count,
      registeredAt: isoTime,
      leftAt: isoTime.nullable(),
      reason: leaveReasonSchema.nullable(),
      processed: count,
      inflight: count,
    }),
  ),
});
export type WorkerDetailView = z.infer<typeof workerDetailSchema>;

export const poolSchema = z.object({ total: count, selectable: count, load: count, pressure: count });
export type PoolView = z.infer<typeof poolSchema>;

export const poolsSchema = z.object({ prefill: poolSchema, decode: poolSchema, regular: poolSchema }).meta({ id: 'Pools' });
export type PoolsView = z.infer<typeof poolsSchema>;

export const workersAnswerSchema = z.object({ seq: seqSchema, workers: z.array(workerSchema), pools: poolsSchema });
export type WorkersAnswer = z.infer<typeof workersAnswerSchema>;
