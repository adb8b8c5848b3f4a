import { Inject, Module } from '@nestjs/common';
import { Cluster } from '@switchyard/core';

import { PolicyModule } from '../policy/policy.module.js';
import { PoolsModule } from '../pools/pools.module.js';
import { CLUSTER } from '../pools/pools.service.js';
import { Metrics } from '../telemetry/metrics.js';
import { AboutController } from './about/about.controller.js';
import { Listeners } from './about/listeners.js';
import { AdminTokens } from './access/admin-tokens.js';
import { LoginLimiter } from './access/login-limiter.js';
import { SessionController } from './access/session.controller.js';
import { Sessions } from './access/sessions.js';
import { AuditLog } from './audit-log.js';
import { ConfigController } from './config/config.controller.js';
import { LiveConfig } from './config/live-config.js';
import { DashboardController } from './dashboard/dashboard.controller.js';
import { DASHBOARD_DIRECTORY, dashboardDirectory } from './dashboard/dashboard-directory.js';
import { AdminErrorFilter } from './errors/admin-error.filter.js';
import { KnownRoutes } from './errors/known-routes.js';
import { LiveGateway } from './live/live.gateway.js';
import { LIVE_LIMITS, liveLimits } from './live/live-limits.js';
import { CacheController } from './observe/cache.controller.js';
import { EventsController } from './observe/events.controller.js';
import { HandoffsController } from './observe/handoffs.controller.js';
import { MetricsController } from './observe/metrics.controller.js';
import { OverviewController } from './observe/overview.controller.js';
import { RequestsController } from './observe/requests.controller.js';
import { DrainWait } from './workers/drain-wait.js';
import { EndpointsController } from './workers/endpoints.controller.js';
import { IntentsController } from './workers/intents.controller.js';
import { WorkersController } from './workers/workers.controller.js';

/** The admin listener's paths. The application that serves them is made ready by `prepareAdminApp`, which guards them. */
@Module({
  imports: [PoolsModule, PolicyModule],
  controllers: [
    DashboardController,
    SessionController,
    WorkersController,
    EndpointsController,
    IntentsController,
    CacheController,
    RequestsController,
    HandoffsController,
    EventsController,
    OverviewController,
    ConfigController,
    AboutController,
    MetricsController,
  ],
  providers: [AdminTokens, Sessions, LoginLimiter, AuditLog, LiveConfig, DrainWait, KnownRoutes, AdminErrorFilter, { provide: LIVE_LIMITS, useValue: liveLimits }, { provide: DASHBOARD_DIRECTORY, useValue: dashboardDirectory }, LiveGateway, Listeners],
  exports: [AdminTokens],
})
export class AdminModule {
  constructor(@Inject(Metrics) metrics: Metrics, @Inject(CLUSTER) cluster: Cluster) {
    metrics.watch(cluster);
  }
}
