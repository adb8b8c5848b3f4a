import { p2pRequestId, parseP2pRequestId } from './p2p-request-id.js';

const unique = '0123456789abcdef0123456789abcdef';

describe('the P2P request id', () => {
  it('has the form that vLLM engines search for', () => {
    const id = p2pRequestId({ prefillAddress: '10.0.0.1:14579', decodeAddress: '10.0.0.2:14580' }, unique);
    expect(id).toBe(`___prefill_addr_10.0.0.1:14579___decode_addr_10.0.0.2:14580_${unique}`);
    expect(/___decode_addr_(.*):(\d+)/.exec(id)?.slice(1)).toEqual(['10.0.0.2', '14580']);
    expect(/___prefill_addr_(.*):(\d+)___/.exec(id)?.slice(1)).toEqual(['10.0.0.1', '14579']);
  });

  it('carries MoRI-IO addresses so that its engines find them', () => {
    const pair = { prefillAddress: 'host:fd00::1,handshake:6301,notify:61005', decodeAddress: 'host:10.0.0.2,handshake:6301,notify:61005' };
    const id = p2pRequestId(pair, unique);
    expect(/___prefill_addr_(.+?)___decode_addr_/.exec(id)?.[1]).toBe(pair.prefillAddress);
    expect(/___decode_addr_(.+)_[0-9a-f]{32}(?:-.*)?$/.exec(id)?.[1]).toBe(pair.decodeAddress);
    expect(parseP2pRequestId(id)).toEqual(pair);
  });

  it.each(['', unique.toUpperCase(), unique.slice(1), `${unique}0`, '01234567-89ab-cdef-0123-456789abcdef'])('refuses %j as its unique part', (text) => {
    expect(() => p2pRequestId({ prefillAddress: 'a:1', decodeAddress: 'b:2' }, text)).toThrow(RangeError);
  });

  it.each(['', 'chatcmpl-1', `___prefill_addr_a:1___decode_addr_b:2_${unique}-0`, `x___prefill_addr_a:1___decode_addr_b:2_${unique}`, `___prefill_addr____decode_addr_b:2_${unique}`])(
    'does not read %j',
    (text) => {
      expect(parseP2pRequestId(text)).toBeNull();
    },
  );
});
