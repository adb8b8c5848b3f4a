import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';

import { accessRoleOf } from './access-hook.js';

/** Who acts, for the audit log: the role that the request was let in with. */
export const Actor = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  return accessRoleOf(context.switchToHttp().getRequest<FastifyRequest>()) ?? 'nobody';
});
