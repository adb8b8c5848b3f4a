import { type ConnectorKind } from '../words.js';
import { type Registration } from './registration.js';

/** A pairing group label, whoever states it. */
export const groupLabelForm = /^[A-Za-z0-9._-]{1,128}$/;

/** A KV control address. It goes into P2P request ids as it is, between runs of underscores that engines split at. */
export const zmqAddressForm = /^(?!.*___)[\x21-\x7e]{1,256}$/;

/** Connectors that may be named for an engine. */
export const connectorLabels = ['p2p-nccl', 'nixl', 'moriio', 'mooncake'] as const satisfies readonly ConnectorKind[];

/** What the shape of a KV control address tells: only MoRI-IO's names a handshake port (`moriio_common.py`). */
export function connectorByAddress(zmqAddress: string | null): Registration['connector'] {
  return zmqAddress !== null && /(?:^|,)handshake:/.test(zmqAddress) ? { kind: 'moriio', evidence: 'address' } : null;
}
