import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Logger } from 'pino';
import { systemClock } from '../system-clock.js';
import { EventLog } from './event-log.js';
import { type Store } from './store.js';

export const STORE = Symbol('STORE');

@Global()
@Module({})
export class StoreModule {
  /** Injects an open store and the event log over it. */
  static with(store: Store, logger: Logger): DynamicModule {
    const events = new EventLog({ store, clock: systemClock, warn: (message) => logger.warn(message) });
    return {
      module: StoreModule,
      providers: [
        { provide: STORE, useValue: store },
        { provide: EventLog, useValue: events },
      ],
      exports: [STORE, EventLog],
    };
  }
}
