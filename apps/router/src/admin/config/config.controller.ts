import { Body, Controller, Get, Inject, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Cluster } from '@switchyard/core';
import { type ChangeConfig, changeConfigSchema, configAnswerSchema, type SettingView } from '@switchyard/core/contracts';

import { CLUSTER } from '../../pools/pools.service.js';
import { settings } from '../../config/settings.js';
import { Actor } from '../access/actor.decorator.js';
import { AdminError } from '../errors/admin-error.js';
import { type Listed, listed } from '../listed.js';
import { LiveConfig } from './live-config.js';

@ApiTags('config')
@Controller('api/v1/config')
export class ConfigController {
  readonly #cluster: Cluster;
  readonly #config: LiveConfig;

  constructor(@Inject(CLUSTER) cluster: Cluster, @Inject(LiveConfig) config: LiveConfig) {
    this.#cluster = cluster;
    this.#config = config;
  }

  @Get()
  @ApiOkResponse({ standardSchema: configAnswerSchema })
  show(): Listed<SettingView> {
    return listed(this.#cluster, [...this.#config.settings]);
  }

  /** Changes settings that may change while the router runs. All of them, or none. */
  @Patch()
  @ApiOkResponse({ standardSchema: configAnswerSchema })
  change(@Body({ schema: changeConfigSchema }) change: ChangeConfig, @Actor() by: string): Listed<SettingView> {
    if (Object.keys(change).length === 0) {
      const live = settings.filter((setting) => setting.live).map(({ name }) => name);
      throw new AdminError('invalid_request', 'nothing to change', { remedy: `give one or more of ${live.join(', ')}` });
    }
    this.#config.change(change, by);
    return this.show();
  }
}
