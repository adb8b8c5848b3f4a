import { type KvConnector, type KvIdentity, type LegCall, phaseByMarkers } from './kv-connector.js';
import { Violation } from './violation.js';

/** An engine without a KV connector: it computes every prompt and can take nothing over. */
export function createNoConnector(identity: KvIdentity): KvConnector {
  return {
    carriesParams: false,
    phaseOf: (params) => phaseByMarkers(identity.role, params),
    checkAny: () => undefined,
    checkPrefill: () => null,
    describe: () => null,
    checkDecode: (call: LegCall) => {
      if (call.params?.['do_remote_prefill'] === true) {
        throw new Violation('foreign_params', 'a hand-off came to an engine that has no KV connector');
      }
      return null;
    },
  };
}
