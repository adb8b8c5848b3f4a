import { p2pRequestId } from '../protocol/p2p-request-id.js';
import { type PlacedWorker } from '../scheduling/scheduler-port.js';
import { type PairAttempt } from './connector.js';

/** The id of both legs that names the pair; new for each attempt. RangeError when decode is not chosen yet. */
export function pairRequestId({ prefill, decode, randomHex }: PairAttempt): string {
  if (decode === null) throw new RangeError('early binding needs the decode worker before prefill');
  const addresses = { prefillAddress: kvAddress(prefill), decodeAddress: kvAddress(decode) };
  return p2pRequestId(addresses, randomHex(16));
}

/** The id of both legs where engines read nothing out of it: the client's, and what tells attempts apart. */
export function attemptRequestId({ clientRequestId, randomHex }: PairAttempt): string {
  return `${clientRequestId}-${randomHex(4)}`;
}

/** What the engine registered; without that, vLLM Router's substitute: the endpoint's `host:port`. */
function kvAddress({ zmqAddress, endpoint }: PlacedWorker): string {
  return zmqAddress ?? endpoint.slice(endpoint.indexOf('://') + 3);
}
