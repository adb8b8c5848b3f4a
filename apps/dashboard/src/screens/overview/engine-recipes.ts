import type { AboutView } from '@switchyard/core/contracts';

export interface Recipe {
  readonly id: string;
  readonly name: string;
  /** vLLM versions it is for. */
  readonly versions: string;
  readonly steps: readonly { readonly title: string; readonly command: string }[];
  readonly note?: string;
}

type Addresses = Pick<AboutView, 'advertiseHost' | 'adminPort' | 'discoveryPort'>;

const json = (value: unknown): string => `'${JSON.stringify(value)}'`;

/** How engines of each kind join this router, with its own addresses filled in. */
export function recipesOf({ advertiseHost, adminPort, discoveryPort }: Addresses): readonly Recipe[] {
  const host = advertiseHost.includes(':') && !advertiseHost.startsWith('[') ? `[${advertiseHost}]` : advertiseHost;
  const port = discoveryPort ?? 30001;
  const announce = (role: 'prefill' | 'decode'): string =>
    `switchyard announce --engine http://127.0.0.1:8000 --role ${role} --router ${host}:${port} --connector nixl \\\n  --admin http://${host}:${adminPort} --token "$SWITCHYARD_TOKEN"`;
  const p2p = (role: 'kv_producer' | 'kv_consumer', kvPort: string, buffer: string): string =>
    `VLLM_DISABLE_REQUEST_ID_RANDOMIZATION=1 vllm serve MODEL --port 8000 --kv-transfer-config \\\n  ${json({
      kv_connector: 'P2pNcclConnector',
      kv_role: role,
      kv_buffer_size: buffer,
      kv_port: kvPort,
      kv_connector_extra_config: { proxy_ip: advertiseHost, proxy_port: String(port), http_port: '8000', send_type: 'PUT_ASYNC' },
    })}`;
  const moriio = (role: 'kv_producer' | 'kv_consumer'): string =>
    `vllm serve MODEL --port 8000 --kv-transfer-config \\\n  ${json({
      kv_connector: 'MoRIIOConnector',
      kv_role: role,
      kv_connector_extra_config: {
        proxy_ip: advertiseHost,
        proxy_ping_port: String(port),
        http_port: '8000',
        handshake_port: '6301',
        notify_port: '61005',
        read_mode: 'true',
      },
    })}`;
  const vllmNixl = `VLLM_NIXL_SIDE_CHANNEL_HOST=$(hostname -i) VLLM_NIXL_SIDE_CHANNEL_PORT=5600 \\\n  vllm serve MODEL --port 8000 --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'`;
  return [
    {
      id: 'nixl',
      name: 'NIXL',
      versions: 'all current vLLM versions',
      note: 'NIXL engines do not announce themselves: the announcer runs beside each and pings while its /health answers. Engines on one machine need different side channel ports.',
      steps: [
        { title: 'On every engine machine', command: vllmNixl },
        { title: 'Beside a prefill engine', command: announce('prefill') },
        { title: 'Beside a decode engine', command: announce('decode') },
      ],
    },
    {
      id: 'static',
      name: 'Static flags',
      versions: 'any version, engines that never move',
      note: 'The engines are flags of the router and stay listed while they are down.',
      steps: [
        { title: 'On every engine machine', command: vllmNixl },
        { title: 'The router, started with', command: 'switchyard serve --prefill http://PREFILL:8000 --decode http://DECODE:8000 --kv-connector nixl' },
        { title: 'Engines that do both phases', command: 'switchyard serve --worker-url http://ENGINE:8000' },
      ],
    },
    {
      id: 'moriio',
      name: 'MoRI-IO',
      versions: 'current vLLM on ROCm, read mode',
      note: 'These engines register themselves.',
      steps: [
        { title: 'Prefill engine', command: moriio('kv_producer') },
        { title: 'Decode engine', command: moriio('kv_consumer') },
      ],
    },
    {
      id: 'p2p-nccl',
      name: 'P2P NCCL',
      versions: 'vLLM until its removal in mid-2026',
      note: 'These engines register themselves. From 0.14 on they need VLLM_DISABLE_REQUEST_ID_RANDOMIZATION=1, which earlier versions ignore.',
      steps: [
        { title: 'Prefill engine', command: p2p('kv_producer', '21001', '1e1') },
        { title: 'Decode engine', command: p2p('kv_consumer', '22001', '8e9') },
      ],
    },
  ];
}
