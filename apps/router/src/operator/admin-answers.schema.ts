import { roles } from '@switchyard/core';
import { z } from 'zod';

/** What the operator commands read of a worker. */
const worker = z.object({
  id: z.string(),
  role: z.string(),
  endpoint: z.string(),
  group: z.string().nullable(),
  models: z.array(z.string()),
  modelsKnown: z.boolean(),
  adminState: z.string(),
  health: z.string(),
  heartbeat: z.string(),
  selectable: z.boolean(),
  unselectableBecause: z.array(z.string()),
  load: z.number(),
  holds: z.object({ kvOut: z.number(), bound: z.number() }),
  departedWork: z.object({ leases: z.number(), holds: z.number() }),
  safeToStop: z.boolean(),
  processed: z.number(),
});

export type WorkerAnswer = z.infer<typeof worker>;

const pool = z.object({ total: z.number(), selectable: z.number(), load: z.number() });

export const workersAnswer = z.object({ workers: z.array(worker), pools: z.record(z.enum(roles), pool) });

export const drainAnswer = z.object({ items: z.array(worker), drained: z.boolean().optional() });

export const overviewAnswer = z.object({
  now: z.object({ rps: z.number().nullable(), inflight: z.number(), errorShare: z.number().nullable() }),
});
