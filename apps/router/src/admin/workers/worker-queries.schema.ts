import { removalActions, waitSecsSchema } from '@switchyard/core/contracts';
import { z } from 'zod';

const number = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'must be a number')
  .transform(Number);

export const waitQuery = z.object({ waitSecs: number.pipe(waitSecsSchema).optional() });
export type WaitQuery = z.infer<typeof waitQuery>;

export const removeQuery = z.object({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .transform((word) => word === 'true'),
  ifGeneration: number.pipe(z.int()).optional(),
});
export type RemoveQuery = z.infer<typeof removeQuery>;

export const consequencesQuery = z.object({ action: z.enum(removalActions) });
export type ConsequencesQuery = z.infer<typeof consequencesQuery>;
