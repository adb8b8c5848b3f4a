import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster, isoTimeOf, type Worker, workerDetailView, workersView, workerView } from '@switchyard/core';
import {
  type AddWorker,
  addWorkerSchema,
  consequencesSchema,
  type ConsequencesView,
  type DrainWorker,
  drainWorkerSchema,
  type EvictAnswer,
  evictAnswerSchema,
  type EvictWorker,
  evictWorkerSchema,
  type UndrainWorker,
  undrainWorkerSchema,
  type WorkerDetailView,
  workerDetailSchema,
  workerSchema,
  type WorkersAnswer,
  workersAnswerSchema,
  type WorkerView,
} from '@switchyard/core/contracts';
import { type FastifyReply, type FastifyRequest } from 'fastify';

import { CLUSTER } from '../../pools/pools.service.js';
import { Actor } from '../access/actor.decorator.js';
import { valueOf } from '../errors/refusals.js';
import { DrainWait } from './drain-wait.js';
import { addedRegistration, drainWish, evictWish } from './wishes.js';
import { type ConsequencesQuery, consequencesQuery, type RemoveQuery, removeQuery, type WaitQuery, waitQuery } from './worker-queries.schema.js';

@ApiTags('workers')
@Controller('api/v1/workers')
export class WorkersController {
  readonly #cluster: Cluster;
  readonly #wait: DrainWait;

  constructor(@Inject(CLUSTER) cluster: Cluster, @Inject(DrainWait) wait: DrainWait) {
    this.#cluster = cluster;
    this.#wait = wait;
  }

  @Get()
  @ApiOkResponse({ standardSchema: workersAnswerSchema })
  list(): WorkersAnswer {
    return workersView(this.#cluster);
  }

  @Get(':id')
  @ApiOkResponse({ standardSchema: workerDetailSchema })
  show(@Param('id') id: string): WorkerDetailView {
    // A departed worker is shown as long as it has work; everything that changes needs a current one.
    return workerDetailView(this.#cluster, this.#cluster.fleet.byId(id) ?? this.#current(id));
  }

  /** What a drain or an eviction would mean now, to be said before it is done. Changes nothing. */
  @Get(':id/consequences')
  @ApiOkResponse({ standardSchema: consequencesSchema })
  consequences(@Param('id') id: string, @Query({ schema: consequencesQuery }) { action }: ConsequencesQuery): ConsequencesView {
    return { action, ...this.#cluster.operations.consequences(this.#current(id)) };
  }

  @Post()
  @HttpCode(201)
  @ApiCreatedResponse({ standardSchema: workerSchema })
  add(@Body({ schema: addWorkerSchema }) body: AddWorker, @Actor() by: string): WorkerView {
    return workerView(this.#cluster, valueOf(this.#cluster.operations.add(addedRegistration(body), by)));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiNoContentResponse()
  remove(@Param('id') id: string, @Query({ schema: removeQuery }) { force, ifGeneration }: RemoveQuery, @Actor() by: string): void {
    valueOf(this.#cluster.operations.remove(this.#current(id, ifGeneration), by, force));
  }

  @Post(':id/drain')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: workerSchema })
  @ApiAcceptedResponse({ standardSchema: workerSchema, description: 'The wait ended first.' })
  async drain(
    @Param('id') id: string,
    @Query({ schema: waitQuery }) { waitSecs }: WaitQuery,
    @Body({ schema: drainWorkerSchema }) { ifGeneration, ...body }: DrainWorker,
    @Actor() by: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkerView> {
    const worker = this.#current(id, ifGeneration);
    valueOf(this.#cluster.operations.drain([worker], drainWish(body, by)));
    if (waitSecs !== undefined && !(await this.#wait.until(() => this.#cluster.fleet.finished(worker), waitSecs, request))) {
      void reply.status(202);
    }
    return workerView(this.#cluster, worker);
  }

  @Post(':id/undrain')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: workerSchema })
  undrain(@Param('id') id: string, @Body({ schema: undrainWorkerSchema }) { ifGeneration }: UndrainWorker, @Actor() by: string): WorkerView {
    const worker = this.#current(id, ifGeneration);
    valueOf(this.#cluster.operations.undrain(worker.role, worker.endpoint, by));
    return workerView(this.#cluster, worker);
  }

  @Post(':id/evict')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: evictAnswerSchema })
  evict(@Param('id') id: string, @Body({ schema: evictWorkerSchema }) body: EvictWorker, @Actor() by: string): EvictAnswer {
    const worker = this.#current(id, body.ifGeneration);
    const { inflight, quarantine } = valueOf(this.#cluster.operations.evict(worker, evictWish(body, by)));
    const until = quarantine?.untilMs;
    return { id, inflight, quarantinedUntil: until === undefined ? null : until === null ? 'readmit' : isoTimeOf(until) };
  }

  #current(id: string, ifGeneration?: number): Worker {
    return valueOf(this.#cluster.operations.find(id, ifGeneration));
  }
}
