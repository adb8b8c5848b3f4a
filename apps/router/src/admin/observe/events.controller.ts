import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster } from '@switchyard/core';
import { eventsAnswerSchema, type EventView } from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';
import { EventLog } from '../../store/event-log.js';
import { type Listed } from '../listed.js';
import { eventView } from './event-view.js';
import { type EventsQuery, eventsQuery } from './list-queries.schema.js';

@ApiTags('events')
@Controller('api/v1/events')
export class EventsController {
  readonly #cluster: Cluster;
  readonly #events: EventLog;

  constructor(@Inject(CLUSTER) cluster: Cluster, @Inject(EventLog) events: EventLog) {
    this.#cluster = cluster;
    this.#events = events;
  }

  /** Ascending: from `after` on, or the newest ones without it. */
  @Get()
  @ApiOkResponse({ standardSchema: eventsAnswerSchema })
  list(@Query({ schema: eventsQuery }) { after, limit, type }: EventsQuery): Listed<EventView> {
    const found = this.#events.read({ after: after ?? null, limit: limit + 1, types: type ?? null });
    const more = found.length > limit;
    // Without `after` the surplus is the oldest one, and there is nothing newer to go on to.
    const page = more ? (after === undefined ? found.slice(1) : found.slice(0, limit)) : found;
    const last = page.at(-1);
    return {
      items: page.map(eventView),
      seq: this.#cluster.seq,
      ...(more && after !== undefined && last !== undefined ? { next: last.eventSeq } : {}),
    };
  }
}
