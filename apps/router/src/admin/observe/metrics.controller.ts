import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';

import { Metrics } from '../../telemetry/metrics.js';

@ApiExcludeController()
@Controller('metrics')
export class MetricsController {
  readonly #metrics: Metrics;

  constructor(@Inject(Metrics) metrics: Metrics) {
    this.#metrics = metrics;
  }

  @Get()
  async scrape(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.type(this.#metrics.registry.contentType);
    return this.#metrics.registry.metrics();
  }
}
