import { type ArgumentMetadata, Injectable, StandardSchemaValidationPipe } from '@nestjs/common';

import { AdminError } from './errors/admin-error.js';

/** Checks bodies and queries against their schemas; a refusal names each field and what is wrong with it. */
@Injectable()
export class SchemaPipe extends StandardSchemaValidationPipe {
  constructor() {
    super({
      exceptionFactory: (found) => {
        const issues = found.slice(0, 20).map(({ message, path = [] }) => ({
          field: path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.'),
          message,
        }));
        const text = issues.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ');
        return new AdminError('invalid_request', text, { details: { issues } });
      },
    });
  }

  /** An absent body is one without members: all of them may be optional. */
  override transform<T>(value: T, metadata: ArgumentMetadata): Promise<T> {
    return super.transform(metadata.type === 'body' ? (value ?? ({} as T)) : value, metadata);
  }
}
