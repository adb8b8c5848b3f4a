import { z } from 'zod';

import { isoTime } from './vocabulary.schema.js';

/** What a page needs to show commands that can be pasted. */
export const aboutSchema = z.object({
  version: z.string(),
  startedAt: isoTime,
  /** How this machine is reached from others. */
  advertiseHost: z.string(),
  apiPort: z.int(),
  adminPort: z.int(),
  /** `null` = discovery is off. */
  discoveryPort: z.int().nullable(),
  /** Drains, quarantine and events outlive a restart. */
  durable: z.boolean(),
  handoffMaxAgeMs: z.number(),
  registrationTtlMs: z.number(),
});
export type AboutView = z.infer<typeof aboutSchema>;
