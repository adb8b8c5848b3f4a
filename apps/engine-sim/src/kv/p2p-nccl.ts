import { type PairAddresses, parseP2pRequestId } from '@switchyard/core/protocol';
import { splitHostPort } from './kv-address.js';
import { type KvConnector, type KvIdentity, type LegCall } from './kv-connector.js';
import { Violation } from './violation.js';

/** Reads the pair out of the request id; vLLM raises the same sentence when it is not there. */
export function requirePair(call: LegCall): PairAddresses {
  const pair = call.requestId === null ? null : parseP2pRequestId(call.requestId);
  if (pair === null) {
    throw new Violation('bad_request_id', `Request id ${String(call.requestId)} does not contain hostname and port`);
  }
  return pair;
}

/** Both legs carry one `X-Request-Id` that names the pair; the body says nothing. */
export function createP2pNcclConnector(identity: KvIdentity): KvConnector {
  return {
    carriesParams: false,
    phaseOf: () => (identity.role === 'regular' ? 'single' : identity.role),
    checkAny: (call) => {
      if (identity.role !== 'regular') requirePair(call);
    },
    checkPrefill: (call) => {
      const { prefillAddress, decodeAddress } = requirePair(call);
      if (prefillAddress !== identity.addressText) {
        throw new Violation('wrong_address', `request id names prefill ${prefillAddress}, this engine is ${identity.addressText}`);
      }
      if (splitHostPort(decodeAddress) === null) {
        throw new Violation('bad_request_id', `Request id ${String(call.requestId)} does not contain hostname and port`);
      }
      if (call.params?.['do_remote_prefill'] === true) throw new Violation('wrong_role', 'a decode call came to a prefill engine');
      return call.requestId;
    },
    describe: () => null,
    checkDecode: (call) => {
      const { prefillAddress, decodeAddress } = requirePair(call);
      if (decodeAddress !== identity.addressText) {
        throw new Violation('wrong_address', `request id names decode ${decodeAddress}, this engine is ${identity.addressText}`);
      }
      if (call.params?.['do_remote_decode'] === true) throw new Violation('wrong_role', 'a prefill call came to a decode engine');
      if (call.params?.['do_remote_prefill'] === true) {
        throw new Violation('foreign_params', 'kv_transfer_params of another connector came to a P2P NCCL decode engine');
      }
      const target = splitHostPort(prefillAddress);
      if (target === null) throw new Violation('bad_request_id', `Request id ${String(call.requestId)} does not contain hostname and port`);
      return { ...target, claim: { key: String(call.requestId), engineId: null, blockIds: null, nonce: null } };
    },
  };
}
