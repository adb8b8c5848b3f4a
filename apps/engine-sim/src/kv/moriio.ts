import { parseMoriioAddress } from './kv-address.js';
import { type KvConnector, type KvIdentity, type KvParams, phaseByMarkers } from './kv-connector.js';
import { nonceIn, requireBlockIds, requirePort, requireText } from './nixl.js';
import { requirePair } from './p2p-nccl.js';
import { Violation } from './violation.js';

function requireTransferId(params: KvParams): string {
  const id = params['transfer_id'];
  if (typeof id !== 'string' || !/^tx-.+$/.test(id)) {
    throw new Violation('bad_params', `kv_transfer_params.transfer_id must begin with tx-, got ${JSON.stringify(id)}`);
  }
  return id;
}

function requireKeys(params: KvParams): void {
  for (const key of ['remote_engine_id', 'remote_block_ids']) {
    if (!(key in params)) throw new Violation('bad_params', `kv_transfer_params.${key} is missing`);
  }
}

/** MoRI-IO READ: addresses travel in the request id, blocks in the prefill answer's object, both under a transfer id. */
export function createMoriioConnector(identity: KvIdentity): KvConnector {
  return {
    carriesParams: true,
    phaseOf: (params) => phaseByMarkers(identity.role, params),
    checkAny: (call) => {
      if (identity.role !== 'regular') requirePair(call);
      if (call.params !== null) requireTransferId(call.params);
    },
    checkPrefill: (call) => {
      const params = call.params ?? {};
      if (identity.role === 'decode') throw new Violation('wrong_role', 'a prefill call came to a decode engine');
      requireKeys(params);
      const { prefillAddress, decodeAddress } = requirePair(call);
      if (prefillAddress !== identity.addressText) {
        throw new Violation('wrong_address', `request id names prefill ${prefillAddress}, this engine is ${identity.addressText}`);
      }
      if (parseMoriioAddress(decodeAddress) === null) {
        throw new Violation('bad_request_id', `request id names decode ${decodeAddress}, which is no MoRI-IO address`);
      }
      return requireTransferId(params);
    },
    describe: (handOff) =>
      `{"do_remote_prefill":true,"do_remote_decode":false,"remote_block_ids":${handOff.blockIds},` +
      `"remote_engine_id":"${identity.engineId}","remote_host":${JSON.stringify(identity.address.host)},` +
      `"remote_handshake_port":${identity.address.port},"remote_notify_port":${identity.address.notifyPort ?? 0},` +
      `"remote_dp_size":1,"tp_size":1,"transfer_id":${JSON.stringify(handOff.key)},"sim_nonce":${handOff.nonce}}`,
    checkDecode: (call) => {
      const { prefillAddress, decodeAddress } = requirePair(call);
      if (decodeAddress !== identity.addressText) {
        throw new Violation('wrong_address', `request id names decode ${decodeAddress}, this engine is ${identity.addressText}`);
      }
      const { params } = call;
      if (params?.['do_remote_prefill'] !== true) return null;
      if (identity.role === 'prefill') throw new Violation('wrong_role', 'a decode call with a hand-off came to a prefill engine');
      requireKeys(params);
      const host = requireText(params, 'remote_host');
      const port = requirePort(params, 'remote_handshake_port');
      const named = parseMoriioAddress(prefillAddress);
      if (named === null || named.host !== host || named.port !== port) {
        throw new Violation('wrong_address', `request id names prefill ${prefillAddress}, the hand-off is from ${host}:${port}`);
      }
      return {
        host,
        port,
        claim: {
          key: requireTransferId(params),
          engineId: requireText(params, 'remote_engine_id'),
          blockIds: requireBlockIds(params),
          nonce: nonceIn(call.bodyText),
        },
      };
    },
  };
}
