import { parseP2pRequestId } from '../protocol/p2p-request-id.js';
import { autoConnector } from './auto.connector.js';
import { attemptOf, connectorContract, goodAnswer, placedDecode, placedPrefill, textOf } from './connector.contract-suite.js';
import { connectorOf } from './connector-of.js';
import { type Connector } from './connector.js';
import { moriioConnector } from './moriio.connector.js';
import { nixlConnector } from './nixl.connector.js';
import { p2pNcclConnector } from './p2p-nccl.connector.js';

for (const connector of [autoConnector, p2pNcclConnector, nixlConnector, moriioConnector]) connectorContract(connector);

const nixlAsked = { do_remote_decode: true, do_remote_prefill: false, remote_engine_id: null, remote_block_ids: null, remote_host: null, remote_port: null };
const given = '{"do_remote_prefill": true,"remote_block_ids":[18446744073709551615, 2], "x":1.0,"remote_engine_id":"e"}';

function prefillBody(connector: Connector, body = '{"prompt":"p"}'): Record<string, unknown> {
  return JSON.parse(textOf(connector.prefillLeg(attemptOf(body))));
}

function decodeText(connector: Connector, answer: string): string {
  const attempt = attemptOf('{"prompt":"p"}');
  return textOf(connector.decodeLeg(attempt.document, connector.prefillLeg(attempt), goodAnswer(connector, answer)));
}

describe('nixl', () => {
  it('names the attempt after the client id', () => {
    expect(nixlConnector.prefillLeg(attemptOf('{}')).requestId).toBe('chatcmpl-abc-00000001');
  });

  it('asks for a hand-off and gives it to decode byte for byte', () => {
    expect(prefillBody(nixlConnector)).toMatchObject({ kv_transfer_params: nixlAsked });
    expect(decodeText(nixlConnector, `{"kv_transfer_params": ${given} }`)).toBe(`{"prompt":"p","kv_transfer_params":${given}}`);
  });

  it('carries no hand-off where the answer gave none', () => {
    const attempt = attemptOf('{}');
    const leg = nixlConnector.decodeLeg(attempt.document, nixlConnector.prefillLeg(attempt), goodAnswer(nixlConnector, '{"kv_transfer_params":{}}'));
    expect(leg.carriesHandoff).toBe(false);
    expect(textOf(leg)).toBe('{}');
  });
});

describe('p2p-nccl', () => {
  it('names the pair by what the engines registered, else by host and port', () => {
    const leg = p2pNcclConnector.prefillLeg(attemptOf('{}'));
    expect(leg.requestId).toBe(`___prefill_addr_10.0.0.1:14579___decode_addr_[fd00::2]:8000_${'1'.padStart(32, '0')}`);
  });

  it('says nothing in the bodies, and its decode is always a hand-off', () => {
    expect(prefillBody(p2pNcclConnector)).not.toHaveProperty('kv_transfer_params');
    const attempt = attemptOf('{"prompt":"p"}');
    const leg = p2pNcclConnector.decodeLeg(attempt.document, p2pNcclConnector.prefillLeg(attempt), goodAnswer(p2pNcclConnector, '{}'));
    expect(leg.carriesHandoff).toBe(true);
    expect(textOf(leg)).toBe('{"prompt":"p"}');
  });
});

describe('moriio', () => {
  const addresses = { prefill: { ...placedPrefill, zmqAddress: 'host:10.0.0.1,handshake:6301,notify:61005' }, decode: { ...placedDecode, zmqAddress: 'host:fd00::2,handshake:6301,notify:61005' } };

  it('carries both addresses unchanged in the id', () => {
    const { requestId } = moriioConnector.prefillLeg(attemptOf('{}', addresses));
    expect(parseP2pRequestId(requestId)).toEqual({ prefillAddress: addresses.prefill.zmqAddress, decodeAddress: addresses.decode.zmqAddress });
  });

  it('names the transfer in the prefill params', () => {
    const leg = moriioConnector.prefillLeg(attemptOf('{}'));
    expect(leg.transferId).toMatch(/^tx-[0-9a-f]{32}$/);
    expect(JSON.parse(textOf(leg)).kv_transfer_params).toEqual({
      do_remote_decode: true,
      do_remote_prefill: false,
      remote_engine_id: null,
      remote_block_ids: null,
      transfer_id: leg.transferId,
      remote_dp_size: 1,
    });
  });

  it('adds the size to what the answer gave, and the transfer only where it is missing', () => {
    const transferId = moriioConnector.prefillLeg(attemptOf('{}')).transferId;
    expect(decodeText(moriioConnector, `{"kv_transfer_params":${given}}`)).toBe(
      `{"prompt":"p","kv_transfer_params":${given.slice(0, -1)},"remote_dp_size":1,"transfer_id":"${transferId!}"}}`,
    );
    expect(decodeText(moriioConnector, '{"kv_transfer_params":{"transfer_id":"tx-1","remote_dp_size":4}}')).toContain('{"transfer_id":"tx-1","remote_dp_size":1}');
  });

  it('takes params for no evidence of nixl', () => {
    expect(goodAnswer(moriioConnector, `{"kv_transfer_params":${given}}`).facts).toEqual({ connector: null, engineId: 'e' });
  });
});

describe('auto', () => {
  it('speaks to P2P NCCL and NIXL at once', () => {
    const leg = autoConnector.prefillLeg(attemptOf('{}'));
    expect(parseP2pRequestId(leg.requestId)).not.toBeNull();
    expect(JSON.parse(textOf(leg))).toMatchObject({ kv_transfer_params: nixlAsked });
  });

  it('passes on what comes back, and treats silence as a hand-off by the id', () => {
    expect(decodeText(autoConnector, `{"kv_transfer_params":${given}}`)).toBe(`{"prompt":"p","kv_transfer_params":${given}}`);
    const attempt = attemptOf('{}');
    expect(autoConnector.decodeLeg(attempt.document, autoConnector.prefillLeg(attempt), goodAnswer(autoConnector, '{}')).carriesHandoff).toBe(true);
  });
});

describe('connectorOf', () => {
  it('finds the connector of each kind that can be driven', () => {
    const kinds = (['unknown', 'p2p-nccl', 'nixl', 'nixl-push', 'moriio', 'mooncake'] as const).map((kind) => connectorOf(kind));
    expect(kinds).toEqual([autoConnector, p2pNcclConnector, nixlConnector, nixlConnector, moriioConnector, null]);
  });
});
