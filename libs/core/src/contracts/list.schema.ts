import { z } from 'zod';

/** Number of the state that an answer shows; the live stream counts with the same numbers. */
export const seqSchema = z.int().nonnegative();

/** A list as every path but `/workers` gives it; `next` continues it where it was cut. */
export function listOf<T extends z.ZodType>(
  item: T,
): z.ZodObject<{ items: z.ZodArray<T>; seq: typeof seqSchema; next: z.ZodOptional<z.ZodInt> }> {
  return z.object({ items: z.array(item), seq: seqSchema, next: z.int().optional() });
}
