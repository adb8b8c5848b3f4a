import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { cacheTreeView, cacheViews, Cluster } from '@switchyard/core';
import { cacheAnswerSchema, type CacheTreeNode, cacheTreeAnswerSchema, type CacheView } from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';
import { type Listed, listed } from '../listed.js';
import { type CacheTreeQuery, cacheTreeQuery } from './list-queries.schema.js';

@ApiTags('cache')
@Controller('api/v1/cache')
export class CacheController {
  readonly #cluster: Cluster;

  constructor(@Inject(CLUSTER) cluster: Cluster) {
    this.#cluster = cluster;
  }

  @Get()
  @ApiOkResponse({ standardSchema: cacheAnswerSchema })
  indexes(): Listed<CacheView> {
    return listed(this.#cluster, cacheViews(this.#cluster.fleet));
  }

  @Get('tree')
  @ApiOkResponse({ standardSchema: cacheTreeAnswerSchema })
  tree(@Query({ schema: cacheTreeQuery }) { role, model, depth, limit }: CacheTreeQuery): Listed<CacheTreeNode> {
    const { fleet } = this.#cluster;
    const shown = model ?? cacheViews(fleet).find((view) => view.role === role)?.model;
    return listed(this.#cluster, shown === undefined ? [] : cacheTreeView(fleet, role, shown, depth, limit));
  }
}
