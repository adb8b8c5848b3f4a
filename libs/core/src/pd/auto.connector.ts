import { editDocument } from '../json/json-edit.js';
import { type Connector } from './connector.js';
import { pairRequestId } from './leg-request-id.js';
import { readPrefillAnswer } from './prefill-answer.js';
import { prefillEdits } from './prefill-edits.js';
import { decodeBody, nixlPrefillParams } from './transfer-params.js';

/**
 * For a prefill engine whose connector is not known yet: what P2P NCCL reads (the id, hence early binding) together
 * with what NIXL reads (the params); each ignores the other's. Params that come back are passed on and prove NIXL.
 */
export const autoConnector: Connector = {
  kind: 'unknown',
  binding: 'early',
  prefillLeg: (attempt) => ({
    requestId: pairRequestId(attempt),
    transferId: null,
    body: editDocument(attempt.document, [...prefillEdits(attempt.document, attempt.toolChoice), nixlPrefillParams]),
  }),
  readPrefillAnswer,
  // Without params the engine may still be P2P NCCL, whose blocks are on their way by the id alone.
  decodeLeg: (document, { requestId }, { params }) => ({
    requestId,
    body: decodeBody(document, params),
    carriesHandoff: true,
  }),
};
