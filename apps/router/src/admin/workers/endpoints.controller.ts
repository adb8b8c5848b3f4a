import { Body, Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster, endpointKey, type Role, roles, type Worker, workerViews } from '@switchyard/core';
import {
  type CordonEndpoint,
  cordonEndpointSchema,
  type DrainEndpoint,
  drainEndpointSchema,
  type EndpointAnswer,
  endpointAnswerSchema,
  type UndrainEndpoint,
  undrainEndpointSchema,
} from '@switchyard/core/contracts';
import { type FastifyReply, type FastifyRequest } from 'fastify';

import { CLUSTER } from '../../pools/pools.service.js';
import { Actor } from '../access/actor.decorator.js';
import { unknownEndpoint, valueOf } from '../errors/refusals.js';
import { DrainWait } from './drain-wait.js';
import { canonicalEndpoint, drainWish } from './wishes.js';

/** The same operations by address, for scripts and preStop hooks that know no worker id. */
@ApiTags('endpoints')
@Controller('api/v1/endpoints')
export class EndpointsController {
  readonly #cluster: Cluster;
  readonly #wait: DrainWait;

  constructor(@Inject(CLUSTER) cluster: Cluster, @Inject(DrainWait) wait: DrainWait) {
    this.#cluster = cluster;
    this.#wait = wait;
  }

  @Post('drain')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: endpointAnswerSchema })
  @ApiAcceptedResponse({ standardSchema: endpointAnswerSchema, description: 'The wait ended first.' })
  drain(
    @Body({ schema: drainEndpointSchema }) body: DrainEndpoint,
    @Actor() by: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EndpointAnswer> {
    return this.#drain(body, by, request, reply);
  }

  @Post('cordon')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: endpointAnswerSchema })
  @ApiAcceptedResponse({ standardSchema: endpointAnswerSchema, description: 'The wait ended first.' })
  cordon(
    @Body({ schema: cordonEndpointSchema }) body: CordonEndpoint,
    @Actor() by: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EndpointAnswer> {
    return this.#drain(body, by, request, reply);
  }

  @Post('undrain')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: endpointAnswerSchema })
  undrain(@Body({ schema: undrainEndpointSchema }) body: UndrainEndpoint, @Actor() by: string): EndpointAnswer {
    return this.#undrain(body, by);
  }

  @Post('uncordon')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: endpointAnswerSchema })
  uncordon(@Body({ schema: undrainEndpointSchema }) body: UndrainEndpoint, @Actor() by: string): EndpointAnswer {
    return this.#undrain(body, by);
  }

  async #drain(
    { endpoint: url, role, waitSecs, ifGeneration, ...body }: DrainEndpoint,
    by: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<EndpointAnswer> {
    const { operations } = this.#cluster;
    const endpoint = canonicalEndpoint(url, 'endpoint');
    const workers = this.#workersAt(endpoint, role, ifGeneration);
    if (workers.length > 0) valueOf(operations.drain(workers, drainWish(body, by)));
    else if (body.until === 'undrain' && role !== undefined) valueOf(operations.cordon(role, endpoint, drainWish(body, by)));
    else throw unknownEndpoint();
    if (waitSecs !== undefined && !(await this.#wait.until(() => this.#drained(endpoint, role), waitSecs, request))) void reply.status(202);
    return this.#answer(endpoint, role);
  }

  #undrain({ endpoint: url, role, ifGeneration }: UndrainEndpoint, by: string): EndpointAnswer {
    const { operations, drains } = this.#cluster;
    const endpoint = canonicalEndpoint(url, 'endpoint');
    const workers = this.#workersAt(endpoint, role, ifGeneration);
    const wished = rolesOf(role).filter((one) => drains.get(endpointKey(one, endpoint)) !== undefined);
    if (workers.length === 0 && wished.length === 0) throw unknownEndpoint();
    for (const one of wished) valueOf(operations.undrain(one, endpoint, by));
    return this.#answer(endpoint, role);
  }

  #workersAt(endpoint: string, role: Role | undefined, ifGeneration?: number): Worker[] {
    const { fleet, operations } = this.#cluster;
    const workers = rolesOf(role).flatMap((one) => fleet.byKey(endpointKey(one, endpoint)) ?? []);
    return workers.map(({ id }) => valueOf(operations.find(id, ifGeneration)));
  }

  #answer(endpoint: string, role: Role | undefined): EndpointAnswer {
    return { items: workerViews(this.#cluster, this.#workersAt(endpoint, role)), drained: this.#drained(endpoint, role), seq: this.#cluster.seq };
  }

  /** Nothing new comes and nothing old is left, on earlier generations either; never without a wish. */
  #drained(endpoint: string, role: Role | undefined): boolean {
    const { fleet, drains } = this.#cluster;
    const keys = rolesOf(role).map((one) => endpointKey(one, endpoint));
    return keys.some((key) => drains.get(key) !== undefined) && keys.every((key) => fleet.vacant(key));
  }
}

function rolesOf(role: Role | undefined): readonly Role[] {
  return role === undefined ? roles : [role];
}
