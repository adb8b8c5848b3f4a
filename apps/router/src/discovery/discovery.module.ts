import { Module } from '@nestjs/common';
import { PoolsModule } from '../pools/pools.module.js';
import { DiscoveryService } from './discovery.service.js';

@Module({ imports: [PoolsModule], providers: [DiscoveryService], exports: [DiscoveryService] })
export class DiscoveryModule {}
