import { z } from 'zod';

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
export interface CacheNodeView {
  /** Of the run's first block; prompts are not kept. */
  readonly hash: string;
  /** Prompt bytes from the start to the end of the run. */
  readonly depthBytes: number;
  readonly blocks: number;
  readonly hits: number;
  /** Since the last hit; `null` = never. */
  readonly lastHitMs: number | null;
  /** Some worker has shown that it holds it. */
  readonly confirmed: boolean;
  readonly workers: readonly string[];
  readonly children: readonly CacheNodeView[];
}

export const cacheNodeSchema: z.ZodType<CacheNodeView> = z
  .object({
    hash: z.string(),
    depthBytes: count,
    blocks: count,
    hits: count,
    lastHitMs: z.number().nonnegative().nullable(),
    confirmed: z.boolean(),
    workers: z.array(z.string()),
    get children(): z.ZodArray<z.ZodType<CacheNodeView>> {
      return z.array(cacheNodeSchema);
    },
  })
  .meta({ id: 'CacheNode' });
export const cacheTreeAnswerSchema = listOf(cacheNodeSchema);
