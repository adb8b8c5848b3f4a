import { type ConnectorKind } from '../words.js';
import { autoConnector } from './auto.connector.js';
import { type Connector } from './connector.js';
import { moriioConnector } from './moriio.connector.js';
import { nixlConnector } from './nixl.connector.js';
import { p2pNcclConnector } from './p2p-nccl.connector.js';

/**
 * The connector to use with a prefill worker of this kind; `null` when Switchyard cannot drive it. `unknown` gets the
 * one that suits whatever it turns out to be.
 */
export function connectorOf(kind: ConnectorKind): Connector | null {
  switch (kind) {
    case 'unknown':
      return autoConnector;
    case 'p2p-nccl':
      return p2pNcclConnector;
    case 'nixl':
    case 'nixl-push':
      return nixlConnector;
    case 'moriio':
      return moriioConnector;
    case 'mooncake':
      return null;
  }
}
