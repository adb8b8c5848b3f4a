import { Packr } from 'msgpackr';
import { decodeRegistration } from './registration.codec.js';

const packr = new Packr({ useRecords: false });
const valid = { type: 'P', http_address: '10.0.0.1:8000', zmq_address: '10.0.0.1:21001' };
const decode = (message: unknown) => decodeRegistration(packr.pack(message), 10_000);

const registration = (message: object) => {
  const decoded = decode(message);
  if (!decoded.ok) throw new Error(`${decoded.reason}: ${decoded.detail}`);
  return decoded.registration;
};

it('reads what vLLM’s P2P NCCL connector sends', () => {
  expect(decode(valid)).toEqual({
    ok: true,
    host: '10.0.0.1',
    registration: {
      source: 'zmq',
      role: 'prefill',
      endpoint: 'http://10.0.0.1:8000',
      zmqAddress: '10.0.0.1:21001',
      instance: null,
      group: null,
      connector: null,
      transferMode: null,
      startedAtSecs: null,
      models: null,
      ttlMs: 10_000,
    },
  });
});

it('reads what vLLM’s MoRI-IO connector sends, new keys included', () => {
  const zmqAddress = 'host:10.0.0.1,handshake:6301,notify:61005';
  const message = { ...valid, type: 'D', zmq_address: zmqAddress, dp_size: 2, tp_size: 8, transfer_mode: 'READ', node_hosts: ['a', 'b'] };
  expect(registration(message)).toMatchObject({ role: 'decode', zmqAddress, transferMode: 'READ', connector: { kind: 'moriio', evidence: 'address' } });
});

it('reads what announcers add', () => {
  const message = { ...valid, instance: 'started-1', connector: 'nixl', group: 'blue', started_at: 1_700_000_000.25 };
  expect(registration(message)).toMatchObject({
    instance: 'started-1',
    group: 'blue',
    startedAtSecs: 1_700_000_000.25,
    connector: { kind: 'nixl', evidence: 'label' },
  });
});

it.each([
  ['only an address with a handshake', { zmq_address: 'host:a,handshake:1,notify:2' }, { kind: 'moriio', evidence: 'address' }],
  ['only a transfer mode', { transfer_mode: 'WRITE' }, { kind: 'moriio', evidence: 'address' }],
  ['a label against the address', { zmq_address: 'host:a,handshake:1', connector: 'nixl' }, { kind: 'nixl', evidence: 'label' }],
  ['a host that is called handshake', { zmq_address: 'my-handshake:21001' }, null],
])('connector evidence: %s', (_, fields, connector) => {
  expect(registration({ ...valid, ...fields }).connector).toEqual(connector);
});

it.each([[null], ['']])('an engine without a ZMQ channel says so with %j or without the key', (zmqAddress) => {
  expect(registration({ ...valid, zmq_address: zmqAddress }).zmqAddress).toBeNull();
  expect(registration({ type: 'P', http_address: '10.0.0.1:8000' }).zmqAddress).toBeNull();
});

it('keeps the ZMQ address as it came', () => {
  expect(registration({ ...valid, zmq_address: '[FD00::1]:21001' }).zmqAddress).toBe('[FD00::1]:21001');
});

it.each([
  [{ type: 'X' }, 'bad_type', /"X"/],
  [{ type: 'p' }, 'bad_type', /"p"/],
  [{ type: null }, 'bad_type', /null/],
  [{ type: 7 }, 'bad_type', /7/],
  [{ type: ['P'] }, 'bad_type', /an array/],
  [{ type: { a: 1 } }, 'bad_type', /a map/],
  [{ http_address: 8000 }, 'bad_http_address', /text, not 8000/],
  [{ http_address: '10.0.0.1' }, 'bad_http_address', /port is missing/],
  [{ http_address: '10.0.0.1:0' }, 'bad_http_address', /1 to 65535/],
  [{ http_address: '10.0.0.1:99999' }, 'bad_http_address', /1 to 65535/],
  [{ http_address: '10.0.0.1 :8000' }, 'bad_http_address', /spaces/],
  [{ http_address: 'javascript:alert(1)' }, 'bad_http_address', /1 to 65535/],
  [{ http_address: 'x'.repeat(10_000) }, 'bad_http_address', /longer/],
  [{ zmq_address: 21001 }, 'bad_zmq_address', /21001/],
  [{ zmq_address: 'a b' }, 'bad_zmq_address', /"a b"/],
  [{ zmq_address: 'a\r\nx-evil: 1' }, 'bad_zmq_address', /without spaces/],
  [{ zmq_address: 'a___decode_addr_b' }, 'bad_zmq_address', /___/],
  [{ zmq_address: 'x'.repeat(257) }, 'bad_zmq_address', /xxx/],
  [{ instance: 7 }, 'bad_field', /instance/],
  [{ instance: '' }, 'bad_field', /instance/],
  [{ group: 'a b' }, 'bad_field', /group/],
  [{ group: 'x'.repeat(129) }, 'bad_field', /group/],
  [{ started_at: 'yesterday' }, 'bad_field', /started_at/],
  [{ started_at: Infinity }, 'bad_field', /started_at/],
  [{ started_at: -1 }, 'bad_field', /started_at/],
  [{ transfer_mode: 'read' }, 'bad_field', /transfer_mode/],
  [{ connector: 'telepathy' }, 'bad_field', /connector must be one of p2p-nccl, nixl, moriio, mooncake/],
])('refuses %j as %s', (fields, reason, detail) => {
  const decoded = decode({ ...valid, ...fields });
  expect(decoded).toMatchObject({ ok: false, reason });
  expect(decoded.ok ? '' : decoded.detail).toMatch(detail);
  expect(decoded.ok ? '' : decoded.detail).toMatch(/^[\x20-\x7e]{1,500}$/);
});

it.each([[[valid]], ['text'], [7], [null], [['P', '10.0.0.1:8000', '10.0.0.1:21001']]])('refuses %j: not a map', (message) => {
  expect(decode(message)).toMatchObject({ ok: false, reason: 'bad_msgpack' });
});

it('leaves integer and other foreign keys alone', () => {
  const message = new Map<unknown, unknown>([...Object.entries(valid), [1, 2], [null, 3], ['__proto__', { type: 'D' }], ['constructor', 1]]);
  expect(registration(message)).toMatchObject({ role: 'prefill' });
});

it('does not read inherited names as fields', () => {
  expect(decode(new Map([[1, 'P']]))).toMatchObject({ ok: false, reason: 'bad_type' });
});
