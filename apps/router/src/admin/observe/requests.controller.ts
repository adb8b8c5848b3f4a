import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster, receiptView, requestViews } from '@switchyard/core';
import { receiptSchema, type ReceiptView, requestsAnswerSchema, type RequestView } from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';
import { AdminError } from '../errors/admin-error.js';
import { type Listed, listed } from '../listed.js';
import { type RequestsQuery, requestsQuery } from './list-queries.schema.js';

@ApiTags('requests')
@Controller('api/v1/requests')
export class RequestsController {
  readonly #cluster: Cluster;

  constructor(@Inject(CLUSTER) cluster: Cluster) {
    this.#cluster = cluster;
  }

  @Get()
  @ApiOkResponse({ standardSchema: requestsAnswerSchema })
  list(@Query({ schema: requestsQuery }) query: RequestsQuery): Listed<RequestView> {
    return listed(this.#cluster, requestViews(this.#cluster, query));
  }

  /** The newest request of that id, with the explanation of each placement. */
  @Get(':requestId')
  @ApiOkResponse({ standardSchema: receiptSchema })
  receipt(@Param('requestId') requestId: string): ReceiptView {
    const record = this.#cluster.scheduler.requests.find(requestId);
    if (record === undefined) {
      throw new AdminError('unknown_request', 'no request with this id is in flight or among the recent ones', { remedy: 'see GET /api/v1/requests' });
    }
    return receiptView(this.#cluster, record);
  }
}
