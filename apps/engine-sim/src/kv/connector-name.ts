/** KV connectors that the simulator can be started with; `none` hands nothing over. */
export const connectorNames = ['none', 'p2p-nccl', 'nixl', 'moriio'] as const;
export type ConnectorName = (typeof connectorNames)[number];
