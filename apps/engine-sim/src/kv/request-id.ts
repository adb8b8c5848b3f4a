/** The two KV addresses an early-binding connector's request id carries. */
export interface PairRequestId {
  readonly prefillAddress: string;
  readonly decodeAddress: string;
}

const grammar = /^___prefill_addr_(.+?)___decode_addr_(.+)_([0-9a-f]{32})$/;

/**
 * Reads `___prefill_addr_{A}___decode_addr_{B}_{32 lower-case hex}`; `null` for anything else.
 * vLLM searches for the parts anywhere in the id; the simulator insists on the whole form.
 */
export function parsePairRequestId(text: string): PairRequestId | null {
  const match = grammar.exec(text);
  const [, prefillAddress, decodeAddress] = match ?? [];
  return prefillAddress === undefined || decodeAddress === undefined ? null : { prefillAddress, decodeAddress };
}
