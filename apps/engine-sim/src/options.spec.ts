import { helpText, parseOptions } from './options.js';

describe('the command line', () => {
  it('refuses what it does not know and says what', () => {
    expect(() => parseOptions(['--bogus', '1'])).toThrow(/--bogus/);
    expect(() => parseOptions(['--role', 'both'])).toThrow(/--role must be one of prefill, decode, regular, got both/);
    expect(() => parseOptions(['--port', '65536'])).toThrow(/--port must be a number from 0 to 65535/);
    expect(() => parseOptions(['--block-size', '1.5'])).toThrow(/--block-size must be a whole number/);
    expect(() => parseOptions(['stray'])).toThrow(/stray/);
  });

  it('takes addresses only in the form of the connector', () => {
    const moriio = 'host:127.0.0.1,handshake:6301,notify:61005';
    expect(parseOptions(['--connector', 'moriio', '--zmq-address', moriio])).toMatchObject({ kvAddress: { host: '127.0.0.1', port: 6301, notifyPort: 61005 } });
    expect(parseOptions(['--zmq-address', '[::1]:7'])).toMatchObject({ kvAddress: { host: '::1', port: 7, notifyPort: null } });
    expect(() => parseOptions(['--connector', 'moriio', '--zmq-address', '127.0.0.1:6301'])).toThrow(/--zmq-address/);
    expect(() => parseOptions(['--connector', 'nixl', '--zmq-address', moriio.replace('61005', 'x')])).toThrow(/--zmq-address/);
  });

  it('repeats --model, sends no pings for a regular engine, and lists every flag in its help', () => {
    expect(parseOptions(['--model', 'a', '--model', 'b'])).toMatchObject({ models: ['a', 'b'] });
    expect(() => parseOptions(['--router', '127.0.0.1:30001'])).toThrow(/--router/);
    expect(parseOptions(['--help'])).toBe('help');
    expect(helpText()).toMatch(/--kv-lease-secs SECS .*default 30/);
  });
});
