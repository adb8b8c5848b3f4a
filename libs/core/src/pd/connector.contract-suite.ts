import { scanDocument } from '../json/json-document.js';
import { joinBody } from '../json/json-edit.js';
import { decodeUtf8, encodeUtf8 } from '../json/utf8.js';
import { type PlacedWorker } from '../scheduling/scheduler-port.js';
import { type Connector, type EngineLeg, type GoodPrefillAnswer, type PairAttempt } from './connector.js';

export const placedPrefill: PlacedWorker = {
  workerId: 'prefill-1',
  role: 'prefill',
  endpoint: 'http://10.0.0.1:8000',
  zmqAddress: '10.0.0.1:14579',
  connector: 'unknown',
  reason: 'no_match',
};
export const placedDecode: PlacedWorker = { ...placedPrefill, workerId: 'decode-2', role: 'decode', endpoint: 'http://[fd00::2]:8000', zmqAddress: null };

/** Digits that differ from call to call. */
export function countingHex(): (bytes: number) => string {
  let calls = 0;
  return (bytes) => (++calls).toString(16).padStart(2 * bytes, '0');
}

export function attemptOf(body: string, more: Partial<PairAttempt> = {}): PairAttempt {
  const scan = scanDocument(encodeUtf8(body));
  if (scan.kind !== 'object') throw new Error(scan.kind);
  return {
    document: scan.document,
    prefill: placedPrefill,
    decode: placedDecode,
    clientRequestId: 'chatcmpl-abc',
    toolChoice: 'none',
    randomHex: countingHex(),
    ...more,
  };
}

export function textOf(leg: EngineLeg): string {
  const bytes = joinBody(leg.body);
  expect(bytes.length).toBe(leg.body.byteLength);
  return decodeUtf8(bytes, 0, bytes.length);
}

export function goodAnswer(connector: Connector, body: string): GoodPrefillAnswer {
  const answer = connector.readPrefillAnswer(encodeUtf8(body));
  if (answer.kind !== 'answer') throw new Error(answer.kind);
  return answer;
}

const handoff = '{"do_remote_prefill":true, "remote_block_ids":[[12345678901234567890,1.0]],"remote_engine_id":"e-1_dp0"}';
const smuggled = '"kv_transfer_params":{"do_remote_prefill":true,"remote_engine_id":"stolen"}';

/** What every connector owes the flow, whatever it speaks. */
export function connectorContract(connector: Connector): void {
  const client = `{ "model":"m", "seed":12345678901234567890, "top_p":1.0, "max_tokens":64, "stream":true, ${smuggled} }`;

  describe(`${connector.kind} as a connector`, () => {
    it('asks prefill for one token, unstreamed, and changes no other byte', () => {
      const text = textOf(connector.prefillLeg(attemptOf(client)));
      expect(JSON.parse(text)).toMatchObject({ model: 'm', max_tokens: 1, stream: false });
      expect(text.startsWith('{ "model":"m", "seed":12345678901234567890, "top_p":1.0, "max_tokens":1, "stream":false')).toBe(true);
    });

    it('leaves the decode body as the client sent it, the params aside', () => {
      const attempt = attemptOf(client);
      for (const params of [`"kv_transfer_params":${handoff},`, '']) {
        const answer = goodAnswer(connector, `{${params}"choices":[]}`);
        const text = textOf(connector.decodeLeg(attempt.document, connector.prefillLeg(attempt), answer));
        expect(text.startsWith('{ "model":"m", "seed":12345678901234567890, "top_p":1.0, "max_tokens":64, "stream":true')).toBe(true);
        expect(JSON.parse(text)).toMatchObject({ max_tokens: 64, stream: true });
      }
    });

    it('lets no hand-off of the client through, on either leg', () => {
      const attempt = attemptOf(client);
      const prefillLeg = connector.prefillLeg(attempt);
      const decodeLeg = connector.decodeLeg(attempt.document, prefillLeg, goodAnswer(connector, '{"choices":[]}'));
      expect(textOf(prefillLeg)).not.toContain('stolen');
      expect(textOf(decodeLeg)).not.toContain('kv_transfer_params');
    });

    it('gives both legs one request id, new for each attempt', () => {
      const attempt = attemptOf(client);
      const first = connector.prefillLeg(attempt);
      const second = connector.prefillLeg(attempt);
      const decodeLeg = connector.decodeLeg(attempt.document, first, goodAnswer(connector, '{"choices":[]}'));
      expect(decodeLeg.requestId).toBe(first.requestId);
      expect(second.requestId).not.toBe(first.requestId);
      expect(first.requestId).toMatch(/^[\x21-\x7e]+$/);
    });

    it('needs the decode worker for prefill exactly when it binds early', () => {
      const write = () => connector.prefillLeg(attemptOf(client, { decode: null }));
      if (connector.binding === 'early') expect(write).toThrow(RangeError);
      else expect(write().requestId).not.toBe('');
    });

    it('calls a decode leg with params a hand-off', () => {
      const attempt = attemptOf(client);
      const answer = goodAnswer(connector, `{"kv_transfer_params":${handoff}}`);
      expect(connector.decodeLeg(attempt.document, connector.prefillLeg(attempt), answer).carriesHandoff).toBe(true);
    });

    it('learns nothing from an answer without params, and the engine id from one with', () => {
      expect(goodAnswer(connector, '{"kv_transfer_params":null}').facts).toEqual({ connector: null, engineId: null });
      expect(goodAnswer(connector, `{"kv_transfer_params":${handoff}}`).facts).toMatchObject({ engineId: 'e-1' });
    });

    it('refuses broken answers and errors with status 200', () => {
      for (const body of ['', '{"choices":[', '[]', 'oops']) expect(connector.readPrefillAnswer(encodeUtf8(body)).kind).toBe('invalid');
      expect(connector.readPrefillAnswer(encodeUtf8('{"error":{"message":"no"}}')).kind).toBe('engine_error');
    });
  });
}
