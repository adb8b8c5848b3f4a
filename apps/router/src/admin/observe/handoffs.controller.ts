import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster, handoffViews } from '@switchyard/core';
import { handoffsAnswerSchema, type HandoffView } from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';
import { type Listed, listed } from '../listed.js';

@ApiTags('requests')
@Controller('api/v1/handoffs')
export class HandoffsController {
  readonly #cluster: Cluster;

  constructor(@Inject(CLUSTER) cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Requests between their prefill and their first decode byte, and KV that was left behind there; oldest first. */
  @Get()
  @ApiOkResponse({ standardSchema: handoffsAnswerSchema })
  list(): Listed<HandoffView> {
    return listed(this.#cluster, handoffViews(this.#cluster));
  }
}
