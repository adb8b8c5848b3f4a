import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { isoTimeOf } from '@switchyard/core';
import { aboutSchema, type AboutView } from '@switchyard/core/contracts';

import { LOADED_CONFIG } from '../../config/config.module.js';
import { type LoadedConfig } from '../../config/load-config.js';
import { version } from '../../version.js';
import { Listeners } from './listeners.js';

@ApiTags('about')
@Controller('api/v1/about')
export class AboutController {
  readonly #config: LoadedConfig['config'];
  readonly #listeners: Listeners;

  constructor(@Inject(LOADED_CONFIG) { config }: LoadedConfig, @Inject(Listeners) listeners: Listeners) {
    this.#config = config;
    this.#listeners = listeners;
  }

  /** What commands to paste are filled with. */
  @Get()
  @ApiOkResponse({ standardSchema: aboutSchema })
  about(): AboutView {
    const { process, pd, discovery } = this.#config;
    return {
      version,
      startedAt: isoTimeOf(this.#listeners.startedAtMs),
      advertiseHost: this.#listeners.advertiseHost,
      ...this.#listeners.ports,
      durable: process.dataDir !== 'memory',
      handoffMaxAgeMs: pd.handoffMaxAgeSecs * 1000,
      registrationTtlMs: discovery.registrationTtlSecs * 1000,
    };
  }
}
