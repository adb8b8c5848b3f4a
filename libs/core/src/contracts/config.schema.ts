import { z } from 'zod';

import { listOf } from './list.schema.js';
import { policyNameSchema } from './vocabulary.schema.js';

export const settingSchema = z.object({
  /** Kebab-case: the flag without dashes. */
  name: z.string(),
  group: z.string(),
  /** Secrets are masked. */
  value: z.unknown(),
  /** As one would write it in a flag. */
  shown: z.string(),
  source: z.object({ kind: z.enum(['flag', 'env', 'file', 'default', 'admin']), label: z.string() }),
  /** May be changed here while the router runs. */
  live: z.boolean(),
});
export type SettingView = z.infer<typeof settingSchema>;
export const configAnswerSchema = listOf(settingSchema);

/** Settings to change, by name; holds until the router ends. */
export const changeConfigSchema = z
  .strictObject({
    policy: policyNameSchema,
    'prefill-policy': policyNameSchema,
    'decode-policy': policyNameSchema,
    'cache-threshold': z.number().min(0).max(1),
    'balance-abs-threshold': z.int().nonnegative(),
    'balance-rel-threshold': z.number().min(1),
  })
  .partial();
export type ChangeConfig = z.infer<typeof changeConfigSchema>;
