import { type DynamicModule, Module } from '@nestjs/common';
import { type Logger } from 'pino';
import { AdminModule } from './admin/admin.module.js';
import { ConfigModule } from './config/config.module.js';
import { type LoadedConfig } from './config/load-config.js';
import { DiscoveryModule } from './discovery/discovery.module.js';
import { ProxyModule } from './proxy/proxy.module.js';
import { StoreModule } from './store/store.module.js';
import { type Store } from './store/store.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';

/** The whole appliance. What must exist before it, and outlives it, is handed in. */
@Module({})
export class AppModule {
  static with({ loaded, store, logger }: { readonly loaded: LoadedConfig; readonly store: Store; readonly logger: Logger }): DynamicModule {
    return {
      module: AppModule,
      imports: [ConfigModule.with(loaded), StoreModule.with(store, logger), TelemetryModule.with(logger), DiscoveryModule, ProxyModule, AdminModule],
    };
  }
}
