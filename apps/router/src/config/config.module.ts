import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type LoadedConfig } from './load-config.js';

/** Injects the `LoadedConfig` this process runs with: validated once, frozen, with the source of each value. */
export const LOADED_CONFIG = Symbol('LOADED_CONFIG');

@Global()
@Module({})
export class ConfigModule {
  static with(loaded: LoadedConfig): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: LOADED_CONFIG, useValue: loaded }], exports: [LOADED_CONFIG] };
  }
}
