/** The two KV control addresses that a request id names; vLLM's P2P NCCL and MoRI-IO engines find their peer by it. */
export interface PairAddresses {
  readonly prefillAddress: string;
  readonly decodeAddress: string;
}

const idForm = /^[0-9a-f]{32}$/;
const grammar = /^___prefill_addr_(.+?)___decode_addr_(.+)_[0-9a-f]{32}$/;

/**
 * The `X-Request-Id` of both legs: `___prefill_addr_{A}___decode_addr_{B}_{32 lower-case hex digits}`, the addresses
 * as the engines registered them (vLLM `p2p_nccl_engine.py`, `moriio_common.py`). `unique` must be those 32 digits,
 * new for each attempt; anything else is a RangeError, because engines would wait for a peer for ever.
 */
export function p2pRequestId({ prefillAddress, decodeAddress }: PairAddresses, unique: string): string {
  if (!idForm.test(unique)) throw new RangeError('a P2P request id ends in 32 lower-case hexadecimal digits');
  return `___prefill_addr_${prefillAddress}___decode_addr_${decodeAddress}_${unique}`;
}

/** Reads what `p2pRequestId` writes; `null` for anything else, although vLLM finds the parts anywhere in an id. */
export function parseP2pRequestId(requestId: string): PairAddresses | null {
  const [, prefillAddress, decodeAddress] = grammar.exec(requestId) ?? [];
  return prefillAddress === undefined || decodeAddress === undefined ? null : { prefillAddress, decodeAddress };
}
