import 'reflect-metadata';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';

import { ConfigModule } from '../config/config.module.js';
import { loadConfig } from '../config/load-config.js';
import { MemoryStore } from '../store/memory.store.js';
import { StoreModule } from '../store/store.module.js';
import { createLogger } from '../telemetry/logging.js';
import { Metrics } from '../telemetry/metrics.js';
import { metricsPage } from '../telemetry/metrics-reference.js';
import { TelemetryModule } from '../telemetry/telemetry.module.js';
import { adminAdapter } from './admin-app.js';
import { AdminModule } from './admin.module.js';
import { adminDocument } from './openapi.js';

@Module({})
class ReferenceModule {}

/** The page of all metrics. */
export function metricsReference(): Promise<string> {
  return ofIdleAdmin((app) => {
    const metrics = app.get(Metrics);
    metrics.watchDataPlane({ bufferedBytes: () => 0 });
    return metricsPage(metrics);
  });
}

/** The OpenAPI description, as text. */
export function openApiReference(): Promise<string> {
  return ofIdleAdmin((app) => Promise.resolve(JSON.stringify(adminDocument(app), null, 2)));
}

/** Asks an admin application that listens nowhere, has default settings and no engines. */
async function ofIdleAdmin(ask: (app: NestFastifyApplication) => Promise<string>): Promise<string> {
  const loaded = loadConfig([], {}, () => '');
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const logger = createLogger({ level: 'silent', format: 'json', terminal: false });
  const module = {
    module: ReferenceModule,
    imports: [ConfigModule.with(loaded), StoreModule.with(new MemoryStore(), logger), TelemetryModule.with(logger), AdminModule],
  };
  const app = await NestFactory.create<NestFastifyApplication>(module, adminAdapter(), { logger: false, abortOnError: false });
  try {
    return await ask(app);
  } finally {
    await app.close();
  }
}
