import { type KvConnector, type KvIdentity, type KvParams, phaseByMarkers } from './kv-connector.js';
import { Violation } from './violation.js';

/** The number as it stands in the body. Unescaped quotes cannot occur inside a JSON string, so this finds members only. */
export function nonceIn(bodyText: string): string | null {
  return /"sim_nonce"\s*:\s*(\d+)/.exec(bodyText)?.[1] ?? null;
}

/** A string member of a hand-off. */
export function requireText(params: KvParams, key: string): string {
  const value = params[key];
  if (typeof value !== 'string' || value === '') throw new Violation('bad_params', `kv_transfer_params.${key} must be a string, got ${JSON.stringify(value)}`);
  return value;
}

/** A port member of a hand-off. */
export function requirePort(params: KvParams, key: string): number {
  const value = params[key];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 65_535) {
    throw new Violation('bad_params', `kv_transfer_params.${key} must be a port, got ${JSON.stringify(value)}`);
  }
  return value;
}

/** The block list of a hand-off, as JSON. */
export function requireBlockIds(params: KvParams): string {
  const value = params['remote_block_ids'];
  if (!Array.isArray(value)) throw new Violation('bad_params', `kv_transfer_params.remote_block_ids must be a list, got ${JSON.stringify(value)}`);
  return JSON.stringify(value);
}

const askedKeys = ['remote_engine_id', 'remote_block_ids', 'remote_host', 'remote_port'] as const;

/** NIXL pull: the prefill answer's object goes into the decode call unchanged. */
export function createNixlConnector(identity: KvIdentity): KvConnector {
  return {
    carriesParams: true,
    phaseOf: (params) => phaseByMarkers(identity.role, params),
    checkAny: () => undefined,
    checkPrefill: (call) => {
      if (identity.role === 'decode') throw new Violation('wrong_role', 'a prefill call came to a decode engine');
      const params = call.params ?? {};
      if (params['do_remote_prefill'] === true) throw new Violation('bad_params', 'do_remote_prefill and do_remote_decode are both true');
      for (const key of askedKeys) {
        if ((params[key] ?? null) !== null) throw new Violation('bad_params', `kv_transfer_params.${key} must be null in a prefill call`);
      }
      return call.internalId;
    },
    describe: (handOff) =>
      `{"do_remote_prefill":true,"do_remote_decode":false,"remote_block_ids":${handOff.blockIds},` +
      `"remote_engine_id":"${identity.engineId}","remote_request_id":${JSON.stringify(handOff.key)},` +
      `"remote_host":${JSON.stringify(identity.address.host)},"remote_port":${identity.address.port},"tp_size":1,"sim_nonce":${handOff.nonce}}`,
    checkDecode: (call) => {
      const { params } = call;
      if (params?.['do_remote_prefill'] !== true) return null;
      if (identity.role === 'prefill') throw new Violation('wrong_role', 'a decode call with a hand-off came to a prefill engine');
      return {
        host: requireText(params, 'remote_host'),
        port: requirePort(params, 'remote_port'),
        claim: {
          key: requireText(params, 'remote_request_id'),
          engineId: requireText(params, 'remote_engine_id'),
          blockIds: requireBlockIds(params),
          nonce: nonceIn(call.bodyText),
        },
      };
    },
  };
}
