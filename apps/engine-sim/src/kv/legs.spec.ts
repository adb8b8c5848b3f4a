import { type TestEngine, TestEngines } from '../testing/engines.fixture.js';

const engines = new TestEngines();
afterEach(() => engines.stop());

const path = '/v1/completions';
const asking = { do_remote_decode: true, do_remote_prefill: false, remote_engine_id: null, remote_block_ids: null, remote_host: null, remote_port: null };
const client = { prompt: 'a prompt of some length, so that it has blocks', max_tokens: 30 };
const prefillBody = { ...client, max_tokens: 1, stream: false };
const hex = '0123456789abcdef0123456789abcdef';

/** Splices the object as text, as a router has to: its numbers do not survive parsing. */
function withParams(body: object, params: string): string {
  return `${JSON.stringify(body).slice(0, -1)},"kv_transfer_params":${params}}`;
}

async function handOffOf(engine: TestEngine, body: object = {}, headers: Record<string, string> = {}, params: object = asking): Promise<string> {
  const reply = await engine.post(path, { ...prefillBody, ...body, kv_transfer_params: params }, headers);
  expect(reply.status).toBe(200);
  return /"kv_transfer_params":(.*)\}$/.exec(reply.text)?.[1] ?? '';
}

async function codes(engine: TestEngine): Promise<string[]> {
  return (await engine.state()).violations.map((violation) => violation.code);
}

describe('NIXL hand-offs', () => {
  it('are taken once, and give what an undivided engine says', async () => {
    const [prefill, decode, regular] = [await engines.start('--role', 'prefill', '--connector', 'nixl'), await engines.start('--role', 'decode', '--connector', 'nixl'), await engines.start()];
    const params = await handOffOf(prefill);
    expect(JSON.parse(params)).toMatchObject({ do_remote_prefill: true, do_remote_decode: false, tp_size: 1, remote_block_ids: [1] });
    expect((await prefill.state()).kv).toMatchObject({ outstanding: 1, issued: 1 });

    const divided = await decode.post(path, withParams(client, params));
    const undivided = await regular.post(path, client);
    expect(JSON.parse(divided.text).choices).toEqual(JSON.parse(undivided.text).choices);
    expect(JSON.parse(divided.text).usage.prompt_tokens_details.cached_tokens).toBe(12);
    expect((await prefill.state()).kv).toMatchObject({ outstanding: 0, claimed: 1 });

    const second = await decode.post(path, withParams(client, params));
    expect(second.status).toBe(500);
    expect(await codes(decode)).toEqual(['claimed_twice']);
    expect(JSON.parse(second.text).error.message).toMatch(/claimed before/);
  });

  it('are refused when stale, of another process, another version, another prompt, or altered', async () => {
    const prefill = await engines.start('--role', 'prefill', '--connector', 'nixl');
    const hasty = await engines.start('--role', 'prefill', '--connector', 'nixl', '--kv-lease-secs', '0.02');
    const decode = await engines.start('--role', 'decode', '--connector', 'nixl');
    const newer = await engines.start('--role', 'decode', '--connector', 'nixl', '--vllm-version', '0.12.0');

    const stale = await handOffOf(hasty);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const post = async (params: string, body: object = client): Promise<number> => (await decode.post(path, withParams(body, params))).status;
    expect(await post(stale)).toBe(500);

    const params = await handOffOf(prefill);
    const id = (await prefill.state()).engineId;
    expect(await post(params.replace(id, (await hasty.state()).engineId))).toBe(500);
    expect(await post(params, { ...client, prompt: 'another' })).toBe(500);
    expect(await post(JSON.stringify(JSON.parse(params)))).toBe(500);
    expect(await post(params.replace('"remote_block_ids":[', '"remote_block_ids":[7,'))).toBe(500);
    expect(await post(params.replace('"remote_engine_id"', '"engine"'))).toBe(500);
    expect(await post(params.replace(/"remote_port":\d+/, '"remote_port":1'))).toBe(500);
    expect(await codes(decode)).toEqual(['expired_handoff', 'wrong_engine', 'prompt_mismatch', 'altered_params', 'altered_params', 'bad_params', 'prefill_gone']);

    expect((await newer.post(path, withParams(client, params))).status).toBe(500);
    expect(await codes(newer)).toEqual(['version_mismatch']);
    expect(await post(params)).toBe(200);
  });

  it('do not come from a prefill that ended by itself; decode then computes the prompt', async () => {
    const [prefill, decode] = [await engines.start('--role', 'prefill', '--connector', 'nixl'), await engines.start('--role', 'decode', '--connector', 'nixl')];
    expect(await handOffOf(prefill, { prompt: 'over [[sim:tokens=1]]' })).toBe('null');
    expect((await decode.post(path, client)).status).toBe(200);
    expect(await codes(decode)).toEqual([]);
  });

  it.each([
    ['stream', { stream: true }],
    ['max_tokens', { max_tokens: 2 }],
    ['n', { n: 2 }],
  ])('are not begun by a call with another %s', async (_, wrong) => {
    const prefill = await engines.start('--role', 'prefill', '--connector', 'nixl');
    const reply = await prefill.post(path, { ...prefillBody, ...wrong, kv_transfer_params: asking });
    expect(reply.status).toBe(500);
    expect(await codes(prefill)).toEqual(['prefill_shape']);
  });

  it('go neither to a prefill engine nor to one without a connector', async () => {
    const [prefill, regular] = [await engines.start('--role', 'prefill', '--connector', 'nixl'), await engines.start()];
    const params = await handOffOf(prefill);
    expect((await prefill.post(path, withParams(client, params))).status).toBe(500);
    expect((await regular.post(path, withParams(client, params))).status).toBe(500);
    expect([...(await codes(prefill)), ...(await codes(regular))]).toEqual(['wrong_role', 'foreign_params']);
  });
});

describe('P2P NCCL pairs', () => {
  it('need one request id of the exact grammar, naming both engines, on both legs', async () => {
    const [prefill, decode] = [await engines.start('--role', 'prefill', '--connector', 'p2p-nccl'), await engines.start('--role', 'decode', '--connector', 'p2p-nccl')];
    const id = `___prefill_addr_${prefill.zmq}___decode_addr_${decode.zmq}_${hex}`;
    expect(await handOffOf(prefill, {}, { 'x-request-id': id })).toBe('null');
    const send = async (engine: TestEngine, body: object, requestId: string): Promise<number> => (await engine.post(path, body, { 'x-request-id': requestId })).status;

    expect(await send(decode, client, id.slice(0, -1))).toBe(500);
    expect(await send(decode, client, id.toUpperCase())).toBe(500);
    expect(await send(decode, client, 'chatcmpl-1')).toBe(500);
    expect(await send(decode, client, id.replace(decode.zmq, '127.0.0.1:9'))).toBe(500);
    expect(await send(decode, client, id.replace(hex, hex.replace('0', 'f')))).toBe(500);
    expect(await send(decode, { ...client, prompt: 'another' }, id)).toBe(500);
    expect(await send(decode, client, id)).toBe(200);
    expect(await send(decode, client, id)).toBe(500);
    expect(await codes(decode)).toEqual(['bad_request_id', 'bad_request_id', 'bad_request_id', 'wrong_address', 'unknown_handoff', 'prompt_mismatch', 'claimed_twice']);

    expect(await send(prefill, prefillBody, id)).toBe(500);
    expect(await send(prefill, prefillBody, id.replace(prefill.zmq, '127.0.0.1:9'))).toBe(500);
    expect(await codes(prefill)).toEqual(['duplicate_handoff', 'wrong_address']);
  });

  it('tell a decode call that overtook its prefill', async () => {
    const [prefill, decode] = [await engines.start('--role', 'prefill', '--connector', 'p2p-nccl'), await engines.start('--role', 'decode', '--connector', 'p2p-nccl')];
    await prefill.fault({ kind: 'slow_first_byte', ms: 200 });
    const headers = { 'x-request-id': `___prefill_addr_${prefill.zmq}___decode_addr_${decode.zmq}_${hex}` };
    const first = prefill.post(path, prefillBody, headers);
    while ((await prefill.state()).running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await decode.post(path, client, headers)).status).toBe(500);
    expect(await codes(decode)).toEqual(['unfinished_prefill']);
    expect((await first).status).toBe(200);
  });
});

describe('MoRI-IO READ pairs', () => {
  it('need the pair in the request id and the transfer id with its prefix in the params', async () => {
    const [prefill, decode] = [await engines.start('--role', 'prefill', '--connector', 'moriio'), await engines.start('--role', 'decode', '--connector', 'moriio')];
    expect(prefill.zmq).toMatch(/^host:127\.0\.0\.1,handshake:\d+,notify:61005$/);
    const headers = { 'x-request-id': `___prefill_addr_${prefill.zmq}___decode_addr_${decode.zmq}_${hex}` };
    const moriioAsking = { do_remote_decode: true, do_remote_prefill: false, remote_engine_id: null, remote_block_ids: null, transfer_id: `tx-${hex}`, remote_dp_size: 1 };
    const without = (key: string): object => Object.fromEntries(Object.entries(moriioAsking).filter(([name]) => name !== key));
    for (const params of [without('transfer_id'), { ...moriioAsking, transfer_id: hex }, without('remote_engine_id')]) {
      expect((await prefill.post(path, { ...prefillBody, kv_transfer_params: params }, headers)).status).toBe(500);
    }
    expect(await codes(prefill)).toEqual(['bad_params', 'bad_params', 'bad_params']);

    const params = await handOffOf(prefill, {}, headers, moriioAsking);
    expect((await decode.post(path, withParams(client, params))).status).toBe(500);
    expect((await decode.post(path, withParams(client, params), headers)).status).toBe(200);
    expect((await decode.post(path, withParams(client, params), headers)).status).toBe(500);
    expect(await codes(decode)).toEqual(['bad_request_id', 'claimed_twice']);
  });
});
