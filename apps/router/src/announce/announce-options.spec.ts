import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAnnounceOptions } from './announce-options.js';
import { temporaryDirectory } from '../testing/temporary-directory.js';

const folder = temporaryDirectory();

const needed = ['--engine', 'http://Engine:8000/', '--role', 'prefill', '--router', 'router:30001'];
const read = (more: string[] = [], env: Record<string, string> = {}) => readAnnounceOptions([...needed, ...more], env);

it('reads the least', () => {
  expect(read()).toEqual({
    engine: 'http://engine:8000',
    advertised: 'http://engine:8000',
    role: 'prefill',
    router: { host: 'router', port: 30001 },
    connector: null,
    group: null,
    zmqAddress: null,
    admin: null,
    drainWaitSecs: 600,
  });
});

it('reads everything', () => {
  const more = ['--http-address', '10.0.0.1:8000', '--connector', 'nixl', '--group', 'g1', '--zmq-address', '10.0.0.1:21001', '--drain-wait-secs', '1.5'];
  expect(read([...more, '--admin', 'router:9000', '--token', 't'])).toMatchObject({
    engine: 'http://engine:8000',
    advertised: 'http://10.0.0.1:8000',
    connector: 'nixl',
    group: 'g1',
    zmqAddress: '10.0.0.1:21001',
    admin: { origin: 'http://router:9000', token: 't' },
    drainWaitSecs: 1.5,
  });
});

it('drains only with an address and a token, which may come from the environment and a file', () => {
  expect(read(['--token', 't'])?.admin).toBeNull();
  expect(read()?.admin).toBeNull();
  expect(read([], { SWITCHYARD_ADMIN: 'http://router:9000', SWITCHYARD_TOKEN: 't' })?.admin).toEqual({ origin: 'http://router:9000', token: 't' });
  const file = join(folder, 'token');
  writeFileSync(file, 'secret\n');
  expect(read(['--admin', 'router:9000', '--token-file', file])?.admin?.token).toBe('secret');
});

it('gives nothing when only help is wanted', () => {
  expect(readAnnounceOptions(['--help'], {})).toBeNull();
});

it.each<[string[], RegExp]>([
  [needed.slice(2), /--engine is missing/],
  [needed.slice(0, 4), /--router is missing/],
  [[...needed.slice(0, 2), ...needed.slice(4)], /--role is missing/],
  [[...needed, '--role', 'regular'], /--role must be prefill or decode/],
  [[...needed, '--engine', 'engine'], /--engine "engine": the port is missing/],
  [[...needed, '--router', 'router'], /--router "router": the port is missing/],
  [[...needed, '--connector', 'x'], /--connector must be one of/],
  [[...needed, '--group', 'a b'], /--group must be/],
  [[...needed, '--zmq-address', 'a___b'], /--zmq-address must be/],
  [[...needed, '--drain-wait-secs', '-1'], /--drain-wait-secs/],
  [[...needed, '--drain-wait-secs', 'x'], /--drain-wait-secs must be seconds/],
  [[...needed, '--admin', 'router:9000'], /--admin needs a token/],
  [[...needed, '--admin', 'router:9000', '--token', ''], /--admin needs a token/],
  [[...needed, '--frobnicate'], /frobnicate/],
  [[...needed, 'word'], /takes flags only/],
])('refuses %j', (argv, message) => {
  expect(() => readAnnounceOptions(argv, {})).toThrow(message);
});

it('refuses an admin listener of the environment without a token too', () => {
  expect(() => read([], { SWITCHYARD_ADMIN: 'router:9000' })).toThrow('--admin needs a token');
  expect(readAnnounceOptions(['--help'], { SWITCHYARD_ADMIN: 'router:9000' })).toBeNull();
});
