import { editDocument } from '../json/json-edit.js';
import { type Connector } from './connector.js';
import { attemptRequestId } from './leg-request-id.js';
import { readPrefillAnswer } from './prefill-answer.js';
import { prefillEdits } from './prefill-edits.js';
import { decodeBody, nixlPrefillParams } from './transfer-params.js';

/**
 * NIXL, pulled by decode: the prefill answer's object says where the blocks lie and goes to decode unchanged. An answer
 * without one leaves decode to compute the prompt. Push engines understand the same sequence.
 */
export const nixlConnector: Connector = {
  kind: 'nixl',
  binding: 'late',
  prefillLeg: (attempt) => ({
    requestId: attemptRequestId(attempt),
    transferId: null,
    body: editDocument(attempt.document, [...prefillEdits(attempt.document, attempt.toolChoice), nixlPrefillParams]),
  }),
  readPrefillAnswer,
  decodeLeg: (document, { requestId }, { params }) => ({
    requestId,
    body: decodeBody(document, params),
    carriesHandoff: params !== null,
  }),
};
