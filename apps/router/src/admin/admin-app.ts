import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import fastifyStatic from '@fastify/static';
import { type FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';

import { LOADED_CONFIG } from '../config/config.module.js';
import { type LoadedConfig } from '../config/load-config.js';
import { guardAccess } from './access/access-hook.js';
import { AdminTokens } from './access/admin-tokens.js';
import { Sessions } from './access/sessions.js';
import { AdminAdapter } from './admin-adapter.js';
import { dashboardRoutes } from './dashboard/dashboard-address.js';
import { DASHBOARD_DIRECTORY } from './dashboard/dashboard-directory.js';
import { AdminErrorFilter } from './errors/admin-error.filter.js';
import { KnownRoutes } from './errors/known-routes.js';
import { LiveAdapter } from './live/live.adapter.js';
import { adminDocument } from './openapi.js';
import { SchemaPipe } from './schema.pipe.js';

/** For `NestFactory.create`. */
export function adminAdapter(): FastifyAdapter {
  return new AdminAdapter();
}

/**
 * Makes an application over `adminAdapter` and a module with `AdminModule` ready to listen: guarded, with one shape of
 * errors, validation, secure headers and the API's documentation.
 */
export async function prepareAdminApp(app: NestFastifyApplication): Promise<void> {
  app.get(KnownRoutes).watch(app.getHttpAdapter().getInstance());
  await app.register(helmet, { contentSecurityPolicy: { useDefaults: false, directives: contentPolicy }, strictTransportSecurity: false });
  await app.register(cookie);
  await app.register(fastifyStatic, { root: app.get<string>(DASHBOARD_DIRECTORY), serve: false, cacheControl: false, preCompressed: true });
  const [tokens, sessions] = [app.get(AdminTokens), app.get(Sessions)];
  const { config } = app.get<LoadedConfig>(LOADED_CONFIG);
  guardAccess(app.getHttpAdapter().getInstance(), {
    roleOfToken: (token) => tokens.roleOf(token),
    roleOfSession: (id) => sessions.roleOf(id),
    publicRoutes: new Set([...dashboardRoutes, ...(config.admin.openMetrics ? ['/metrics'] : [])]),
  });
  app.useWebSocketAdapter(new LiveAdapter(app));
  app.useGlobalFilters(app.get(AdminErrorFilter));
  app.useGlobalPipes(new SchemaPipe());
  SwaggerModule.setup('api/docs', app, () => adminDocument(app), { jsonDocumentUrl: 'api/openapi.json', yamlDocumentUrl: 'api/openapi.yaml' });
}

/** Everything from here, no script but from files; the parts of the dashboard and the API's page bring styles of their own. */
const contentPolicy = {
  'default-src': ["'self'"],
  'script-src': ["'self'"],
  'connect-src': ["'self'"],
  'font-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'base-uri': ["'none'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'object-src': ["'none'"],
};
