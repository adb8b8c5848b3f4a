import { defaultAllowedNetworks, formatNetwork, networkAllowList, parseNetwork } from './network-allow-list.js';

const listOf = (...texts: string[]) =>
  networkAllowList(
    texts.map((text) => {
      const parsed = parseNetwork(text);
      if (!parsed.ok) throw new Error(parsed.reason);
      return parsed.network;
    }),
  );

describe('the default list', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.255',
    '::1',
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    'fc00::1',
    'fdff:ffff::1',
    '100.64.0.1',
    '100.127.255.255',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
  ])('allows %s', (address) => {
    expect(listOf(...defaultAllowedNetworks).check(address)).toBe('allowed');
  });

  it.each(['8.8.8.8', '172.15.255.255', '172.32.0.0', '192.167.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '2001:db8::1', '::ffff:8.8.8.8'])(
    'does not list %s',
    (address) => {
      expect(listOf(...defaultAllowedNetworks).check(address)).toBe('not_listed');
    },
  );
});

describe('no list opens', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fe80::1',
    'febf::1',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '0.0.0.0',
    '0.1.2.3',
    '::',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
  ])('%s', (address) => {
    expect(listOf('0.0.0.0/0', '::/0').check(address)).toBe('never');
    expect(listOf(...defaultAllowedNetworks).check(address)).toBe('never');
  });
});

describe('a list of one’s own', () => {
  it('replaces the default', () => {
    const list = listOf('192.0.2.0/24', '2001:db8::/33');
    expect(list.networks).toEqual(['192.0.2.0/24', '2001:db8::/33']);
    expect(list.check('192.0.2.255')).toBe('allowed');
    expect(list.check('10.0.0.1')).toBe('not_listed');
    expect(list.check('2001:db8:7fff::1')).toBe('allowed');
    expect(list.check('2001:db8:8000::1')).toBe('not_listed');
  });

  it('keeps the families apart, except that a mapped address is IPv4', () => {
    expect(listOf('::/0').check('10.0.0.1')).toBe('not_listed');
    expect(listOf('::/0').check('::ffff:10.0.0.1')).toBe('not_listed');
    expect(listOf('0.0.0.0/0').check('::ffff:10.0.0.1')).toBe('allowed');
    expect(listOf('0.0.0.0/0').check('2001:db8::1')).toBe('not_listed');
    expect(listOf('::ffff:10.0.0.0/104').networks).toEqual(['10.0.0.0/8']);
    expect(listOf('::/0').check('::1')).toBe('allowed');
  });

  it('allows nothing when empty, and no text that is not an address', () => {
    expect(networkAllowList([]).check('127.0.0.1')).toBe('not_listed');
    expect(listOf('0.0.0.0/0').check('localhost')).toBe('not_an_address');
    expect(listOf('0.0.0.0/0').check('0x7f.1')).toBe('not_an_address');
  });

  it('reads a bare address as a network of one', () => {
    const parsed = parseNetwork('10.1.2.3');
    expect(parsed.ok && formatNetwork(parsed.network)).toBe('10.1.2.3/32');
    expect(listOf('fd00::1').networks).toEqual(['fd00::1/128']);
  });

  it.each([
    ['', /not a network/],
    ['10.0.0.0/8/8', /not a network/],
    ['localhost/8', /not a network/],
    ['10.0.0/8', /not a network/],
    ['10.0.0.0/33', /prefix length/],
    ['10.0.0.0/-1', /prefix length/],
    ['10.0.0.0/', /prefix length/],
    ['10.0.0.0/08', /prefix length/],
    ['fd00::/129', /prefix length/],
    ['::ffff:10.0.0.0/8', /prefix length/],
    ['10.0.0.7/8', /write 10\.0\.0\.0\/8 or 10\.0\.0\.7\/32/],
  ])('refuses %j', (text, reason) => {
    const parsed = parseNetwork(text);
    expect(parsed.ok ? 'taken' : parsed.reason).toMatch(reason);
  });
});
