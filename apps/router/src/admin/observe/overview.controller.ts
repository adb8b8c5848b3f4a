import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster, overviewView, TrafficWindow } from '@switchyard/core';
import { type OverviewAnswer, overviewAnswerSchema } from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';

@ApiTags('overview')
@Controller('api/v1/overview')
export class OverviewController {
  readonly #cluster: Cluster;
  readonly #traffic: TrafficWindow;

  constructor(@Inject(CLUSTER) cluster: Cluster, @Inject(TrafficWindow) traffic: TrafficWindow) {
    this.#cluster = cluster;
    this.#traffic = traffic;
  }

  @Get()
  @ApiOkResponse({ standardSchema: overviewAnswerSchema })
  now(): OverviewAnswer {
    return overviewView(this.#cluster, this.#traffic);
  }
}
