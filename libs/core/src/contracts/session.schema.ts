import { z } from 'zod';

export const accessRoleSchema = z.enum(['operator', 'viewer']);
/** What a token or session may do: an operator reads and changes, a viewer reads. */
export type AccessRole = z.infer<typeof accessRoleSchema>;

export const loginSchema = z.strictObject({ token: z.string().min(1).max(1000) });
export type Login = z.infer<typeof loginSchema>;

export const sessionAnswerSchema = z.object({ role: accessRoleSchema });
export type SessionAnswer = z.infer<typeof sessionAnswerSchema>;
