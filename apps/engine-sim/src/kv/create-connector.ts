import { type ConnectorName } from './connector-name.js';
import { type KvConnector, type KvIdentity } from './kv-connector.js';
import { createMoriioConnector } from './moriio.js';
import { createNixlConnector } from './nixl.js';
import { createNoConnector } from './no-connector.js';
import { createP2pNcclConnector } from './p2p-nccl.js';

const makers: Readonly<Record<ConnectorName, (identity: KvIdentity) => KvConnector>> = {
  none: createNoConnector,
  'p2p-nccl': createP2pNcclConnector,
  nixl: createNixlConnector,
  moriio: createMoriioConnector,
};

export function createConnector(name: ConnectorName, identity: KvIdentity): KvConnector {
  return makers[name](identity);
}
