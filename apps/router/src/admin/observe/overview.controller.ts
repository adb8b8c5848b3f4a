import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster, overviewView, TrafficHistory } from '@switchyard/core';
import { type OverviewAnswer, overviewAnswerSchema } from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';
import { type OverviewQuery, overviewQuery } from './list-queries.schema.js';

@ApiTags('overview')
@Controller('api/v1/overview')
export class OverviewController {
  readonly #cluster: Cluster;
  readonly #traffic: TrafficHistory;

  constructor(@Inject(CLUSTER) cluster: Cluster, @Inject(TrafficHistory) traffic: TrafficHistory) {
    this.#cluster = cluster;
    this.#traffic = traffic;
  }

  /** What goes on, averaged over `windowSecs`, and how it came there: by the second up to 900 s, by the minute beyond. */
  @Get()
  @ApiOkResponse({ standardSchema: overviewAnswerSchema })
  now(@Query({ schema: overviewQuery }) { windowSecs }: OverviewQuery): OverviewAnswer {
    return overviewView(this.#cluster, this.#traffic, windowSecs);
  }
}
