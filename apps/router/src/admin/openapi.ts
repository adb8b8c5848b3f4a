import { type INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { errorAnswerSchema } from '@switchyard/core/contracts';

import { version } from '../version.js';

/** The OpenAPI description of the admin API. */
export function adminDocument(app: INestApplication): OpenAPIObject {
  const about = new DocumentBuilder()
    .setTitle('Switchyard admin API')
    .setDescription('Times are ISO 8601 in UTC with milliseconds; durations end in Ms or Secs. Errors: {error: {code, message, remedy?, details?}}.')
    .setVersion(version)
    .addBearerAuth()
    .addSecurityRequirements('bearer')
    .addGlobalResponse({ status: 'default', description: 'Refused, with what to do about it where there is something.', standardSchema: errorAnswerSchema })
    .build();
  return SwaggerModule.createDocument(app, about);
}
