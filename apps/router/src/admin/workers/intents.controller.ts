import { Controller, Delete, Get, HttpCode, Inject, Param } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster, departedViews, drainViews, quarantineView, type Role } from '@switchyard/core';
import {
  departedAnswerSchema,
  type DepartedWorkerView,
  type DrainIntentView,
  drainsAnswerSchema,
  quarantineAnswerSchema,
  type QuarantineView,
  roleSchema,
} from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';
import { Actor } from '../access/actor.decorator.js';
import { type Listed, listed } from '../listed.js';
import { AdminError } from '../errors/admin-error.js';
import { valueOf } from '../errors/refusals.js';
import { canonicalEndpoint } from './wishes.js';

/** What operators wished and what is left of workers that went. */
@ApiTags('workers')
@Controller('api/v1')
export class IntentsController {
  readonly #cluster: Cluster;

  constructor(@Inject(CLUSTER) cluster: Cluster) {
    this.#cluster = cluster;
  }

  @Get('drains')
  @ApiOkResponse({ standardSchema: drainsAnswerSchema })
  drains(): Listed<DrainIntentView> {
    return listed(this.#cluster, drainViews(this.#cluster));
  }

  @Get('quarantine')
  @ApiOkResponse({ standardSchema: quarantineAnswerSchema })
  quarantine(): Listed<QuarantineView> {
    return listed(this.#cluster, this.#cluster.quarantine.list().map(quarantineView));
  }

  @Delete('quarantine/:role/:endpoint')
  @HttpCode(204)
  @ApiNoContentResponse()
  readmit(@Param('role', { schema: roleSchema }) role: Role, @Param('endpoint') endpoint: string, @Actor() by: string): void {
    const done = valueOf(this.#cluster.operations.readmit(role, canonicalEndpoint(endpoint, 'endpoint'), by));
    if (!done) throw new AdminError('not_found', `${role} ${endpoint} is not in quarantine`, { remedy: 'see GET /api/v1/quarantine' });
  }

  @Get('departed')
  @ApiOkResponse({ standardSchema: departedAnswerSchema })
  departed(): Listed<DepartedWorkerView> {
    return listed(this.#cluster, departedViews(this.#cluster));
  }
}
