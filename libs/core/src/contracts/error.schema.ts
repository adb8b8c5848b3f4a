import { z } from 'zod';

/** Why the admin API refused, each with its usual status. */
export const adminErrorStatus = {
  invalid_json: 400,
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_worker: 404,
  unknown_endpoint: 404,
  unknown_request: 404,
  method_not_allowed: 405,
  generation_changed: 409,
  last_selectable_worker: 409,
  quarantined: 409,
  worker_present: 409,
  not_drained: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  too_many_attempts: 429,
  internal_error: 500,
  store_unavailable: 503,
} as const;

export type AdminErrorCode = keyof typeof adminErrorStatus;

export const errorAnswerSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(adminErrorStatus) as [AdminErrorCode, ...AdminErrorCode[]]),
    message: z.string(),
    /** What to do about it. */
    remedy: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
}).meta({ id: 'Error' });
export type ErrorAnswer = z.infer<typeof errorAnswerSchema>;
