import { Inject, Injectable } from '@nestjs/common';
import { type LifecycleEvent } from '@switchyard/core';
import { type Logger } from 'pino';

import { EventLog } from '../store/event-log.js';
import { LOGGER } from '../telemetry/telemetry.tokens.js';

/** Records what operators do beyond the lifecycle of workers, which the core tells itself. */
@Injectable()
export class AuditLog {
  readonly #events: EventLog;
  readonly #log: Logger;

  constructor(@Inject(EventLog) events: EventLog, @Inject(LOGGER) log: Logger) {
    this.#events = events;
    this.#log = log;
  }

  record(event: LifecycleEvent): void {
    this.#events.append(event);
    this.#log.info({ event: event.type, actor: event.actor, reason: event.reason, ...event.detail }, 'audit');
  }
}
