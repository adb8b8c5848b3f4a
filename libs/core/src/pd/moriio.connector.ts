import { scanDocument, valueOf } from '../json/json-document.js';
import { editDocument, joinBody, setMember } from '../json/json-edit.js';
import { type Connector } from './connector.js';
import { pairRequestId } from './leg-request-id.js';
import { type PrefillAnswer, readPrefillAnswer } from './prefill-answer.js';
import { prefillEdits } from './prefill-edits.js';
import { decodeBody, withParams } from './transfer-params.js';

const dataParallelSize = 1;

/**
 * MoRI-IO in READ mode: both peers' addresses travel in the request id, the blocks in the prefill answer's object,
 * and both legs name the transfer (`tx-` is vLLM's own prefix, `moriio_common.py`).
 */
export const moriioConnector: Connector = {
  kind: 'moriio',
  binding: 'early',
  prefillLeg: (attempt) => {
    const transferId = `tx-${attempt.randomHex(16)}`;
    const params =
      '{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,' +
      `"transfer_id":${JSON.stringify(transferId)},"remote_dp_size":${dataParallelSize}}`;
    return {
      requestId: pairRequestId(attempt),
      transferId,
      body: editDocument(attempt.document, [...prefillEdits(attempt.document, attempt.toolChoice), withParams(params)]),
    };
  },
  readPrefillAnswer: readMoriioAnswer,
  decodeLeg: (document, { requestId, transferId }, { params }) => ({
    requestId,
    body: decodeBody(document, params === null ? null : decodeParams(params, transferId)),
    carriesHandoff: params !== null,
  }),
};

/** The members of a hand-off look like NIXL's and prove nothing about the connector here. */
function readMoriioAnswer(body: Uint8Array): PrefillAnswer {
  const answer = readPrefillAnswer(body);
  return answer.kind === 'answer' ? { ...answer, facts: { ...answer.facts, connector: null } } : answer;
}

/** The answer's object plus what decode needs besides: the size, and the transfer's name where the answer omits it. */
function decodeParams(params: Uint8Array, transferId: string | null): Uint8Array {
  const scan = scanDocument(params);
  if (scan.kind !== 'object') return params;
  const edits = [setMember('remote_dp_size', String(dataParallelSize))];
  if (transferId !== null && valueOf(scan.document, 'transfer_id') === undefined) {
    edits.push(setMember('transfer_id', JSON.stringify(transferId)));
  }
  return joinBody(editDocument(scan.document, edits));
}
