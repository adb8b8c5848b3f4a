import { z } from 'zod';

import { type CacheTreeNode } from '../policies/affinity-statistics.js';
import { listOf } from './list.schema.js';
import { roleSchema } from './vocabulary.schema.js';

const count = z.int().nonnegative();
const share = z.number().min(0).max(1);

/** The prefix index of one role for one model. */
export const cacheSchema = z.object({
  role: roleSchema,
  model: z.string(),
  /** Prompt bytes that some worker is believed to hold, counted once. */
  coveredBytes: count,
  blocks: count,
  nodes: count,
  /** Memory of the index. */
  bytes: count,
  /** Most covered bytes of each worker. */
  maxBytes: count,
  /** Requests whose chosen worker matched at least one block. */
  hits: count,
  misses: count,
  evictions: count,
  /** Matched / keyed bytes over 15 minutes. */
  hitRate: share,
  workers: z.array(z.object({ id: z.string(), coveredBytes: count, share, hits: count })),
});
export type CacheView = z.infer<typeof cacheSchema>;
export const cacheAnswerSchema = listOf(cacheSchema);

/** A run of prompt blocks with equal owners, and what follows it. */
export const cacheNodeSchema: z.ZodType<CacheTreeNode> = z
  .object({
    hash: z.string(),
    depthBytes: count,
    blocks: count,
    hits: count,
    lastHitMs: z.number().nonnegative().nullable(),
    confirmed: z.boolean(),
    workers: z.array(z.string()),
    get children(): z.ZodArray<z.ZodType<CacheTreeNode>> {
      return z.array(cacheNodeSchema);
    },
  })
  .meta({ id: 'CacheNode' });
export const cacheTreeAnswerSchema = listOf(cacheNodeSchema);
export { type CacheTreeNode };
