import { type JsonDocument } from '../json/json-document.js';
import { editDocument, type EditedBody, type JsonEdit, removeMember, setMember } from '../json/json-edit.js';

const memberName = 'kv_transfer_params';

/** An edit that gives a leg these params, whatever the client put there. */
export function withParams(params: string | Uint8Array): JsonEdit {
  return setMember(memberName, params);
}

/** An edit that leaves a leg without params: a client must never hand an engine a KV cache of its choice. */
export const withoutParams: JsonEdit = removeMember(memberName);

/** What vLLM's NIXL connector expects of a prefill request (`nixl_connector.py`, proxy examples). */
export const nixlPrefillParams: JsonEdit = withParams(
  '{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}',
);

/** The client's body with the prefill answer's params as they came, or with none. */
export function decodeBody(document: JsonDocument, params: Uint8Array | null): EditedBody {
  return editDocument(document, [params === null ? withoutParams : withParams(params)]);
}
