import { Inject, Injectable, Module } from '@nestjs/common';
import { type Cluster, localSchedulerPort } from '@switchyard/core';
import { LOADED_CONFIG } from '../config/config.module.js';
import { type LoadedConfig } from '../config/load-config.js';
import { ModelDirectory } from '../pools/model-directory.js';
import { PoolsModule } from '../pools/pools.module.js';
import { CLUSTER } from '../pools/pools.service.js';
import { Metrics } from '../telemetry/metrics.js';
import { PROXY_LOG, PROXY_TELEMETRY } from '../telemetry/telemetry.tokens.js';
import { timedSchedulerPort } from '../telemetry/timed-scheduler-port.js';
import { version } from '../version.js';
import { type ProxyLog } from './access-log.js';
import { ApiServer } from './api-server.js';
import { type FleetView } from './fleet-view.js';
import { type ProxyOptions } from './proxy-options.js';
import { type ProxyTelemetry } from './proxy-telemetry.js';

/** How long an upload may take beyond one second for each KiB that has come. */
const uploadGraceMs = 30_000;

/** The API port as a provider. It is a server of its own: nothing of Nest runs on the request path. */
@Injectable()
export class ProxyService extends ApiServer {
  constructor(
    @Inject(LOADED_CONFIG) loaded: LoadedConfig,
    @Inject(CLUSTER) cluster: Cluster,
    models: ModelDirectory,
    metrics: Metrics,
    @Inject(PROXY_TELEMETRY) telemetry: ProxyTelemetry,
    @Inject(PROXY_LOG) log: ProxyLog,
  ) {
    super({
      options: proxyOptions(loaded),
      port: timedSchedulerPort(localSchedulerPort(cluster.scheduler, cluster.fleet), (seconds) => metrics.controlPlane.placementTook(seconds)),
      fleet: fleetView(cluster, models),
      telemetry,
      log,
    });
    metrics.watchDataPlane({ bufferedBytes: () => this.bufferedBytes });
  }
}

@Module({ imports: [PoolsModule], providers: [ProxyService], exports: [ProxyService] })
export class ProxyModule {}

function proxyOptions({ config }: LoadedConfig): ProxyOptions {
  const { api, health, pd, upstream } = config;
  return {
    requestTimeoutMs: upstream.requestTimeoutSecs * 1000,
    connectTimeoutMs: upstream.connectTimeoutSecs * 1000,
    firstByteTimeoutMs: upstream.firstByteTimeoutSecs * 1000,
    streamIdleTimeoutMs: upstream.streamIdleTimeoutSecs * 1000,
    holdHeadMs: upstream.holdHeadSecs === null ? null : upstream.holdHeadSecs * 1000,
    upstreamKeepaliveMs: upstream.keepaliveSecs * 1000,
    maxBodyBytes: api.maxBodyBytes,
    uploadGraceMs,
    retryMaxAttempts: upstream.retryMaxAttempts,
    handoffMaxAgeMs: pd.handoffMaxAgeSecs * 1000,
    gateWaitMs: health.gateWaitSecs * 1000,
    clientApiKeys: api.clientApiKeys,
    engineApiKey: upstream.apiKey,
    exposeRouteHeaders: api.exposeRouteHeaders,
    pdPrefillToolChoice: pd.prefillToolChoice,
    version,
  };
}

function fleetView({ scheduler }: Cluster, models: ModelDirectory): FleetView {
  return {
    readiness: () => ({ ready: scheduler.canPlace(null), counts: scheduler.counts() }),
    models: () => models.listed(),
  };
}
