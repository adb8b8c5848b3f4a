import { editDocument } from '../json/json-edit.js';
import { type Connector } from './connector.js';
import { pairRequestId } from './leg-request-id.js';
import { readPrefillAnswer } from './prefill-answer.js';
import { prefillEdits } from './prefill-edits.js';
import { decodeBody, withoutParams } from './transfer-params.js';

/** P2P NCCL: prefill pushes its blocks to the decode engine that the request id names; bodies say nothing about it. */
export const p2pNcclConnector: Connector = {
  kind: 'p2p-nccl',
  binding: 'early',
  prefillLeg: (attempt) => ({
    requestId: pairRequestId(attempt),
    transferId: null,
    body: editDocument(attempt.document, [...prefillEdits(attempt.document, attempt.toolChoice), withoutParams]),
  }),
  readPrefillAnswer,
  decodeLeg: (document, { requestId }) => ({ requestId, body: decodeBody(document, null), carriesHandoff: true }),
};
