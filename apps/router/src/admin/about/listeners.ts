import { networkInterfaces } from 'node:os';

import { Inject, Injectable } from '@nestjs/common';

import { LOADED_CONFIG } from '../../config/config.module.js';
import { type LoadedConfig } from '../../config/load-config.js';

interface Ports {
  readonly apiPort: number;
  readonly adminPort: number;
  /** `null` = discovery is off. */
  readonly discoveryPort: number | null;
}

/** Where this process listens and how others reach it: as configured, and as it is once the listeners are bound. */
@Injectable()
export class Listeners {
  readonly startedAtMs = Date.now();
  readonly advertiseHost: string;
  #ports: Ports;

  constructor(@Inject(LOADED_CONFIG) { config: { api, admin, discovery } }: Pick<LoadedConfig, 'config'>) {
    this.advertiseHost = admin.advertiseHost ?? firstAddress();
    this.#ports = { apiPort: api.port, adminPort: admin.port, discoveryPort: discovery.address === null ? null : discovery.address.port };
  }

  get ports(): Ports {
    return this.#ports;
  }

  bound(ports: Ports): void {
    this.#ports = ports;
  }
}

/** The first address of this machine that others may reach, IPv4 first; loopback when there is none. */
function firstAddress(): string {
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return (addresses.find(({ family }) => family === 'IPv4') ?? addresses[0])?.address ?? '127.0.0.1';
}
