import fc from 'fast-check';
import { canonicalHost, parseEndpoint } from './endpoint.js';

const endpointOf = (text: string): string => {
  const parsed = parseEndpoint(text);
  if (!parsed.ok) throw new Error(`${text} was refused: ${parsed.reason}`);
  return parsed.endpoint;
};

const reasonOf = (text: string): string => {
  const parsed = parseEndpoint(text);
  if (parsed.ok) throw new Error(`${text} became ${parsed.endpoint}`);
  return parsed.reason;
};

describe('one spelling for one endpoint', () => {
  it.each([
    ['10.0.0.1:8000', 'http://10.0.0.1:8000'],
    ['http://10.0.0.1:8000', 'http://10.0.0.1:8000'],
    ['HTTP://10.0.0.1:8000/', 'http://10.0.0.1:8000'],
    ['http://10.0.0.1', 'http://10.0.0.1:80'],
    ['https://Engine-1.Example', 'https://engine-1.example:443'],
    ['https://engine:8443', 'https://engine:8443'],
    ['engine_1:8000', 'http://engine_1:8000'],
    ['engine.example.:8000', 'http://engine.example:8000'],
    ['LOCALHOST:8000', 'http://localhost:8000'],
    ['[::1]:8000', 'http://[::1]:8000'],
    ['http://[::1]:8000', 'http://[::1]:8000'],
    ['http://[FD00:0:0:0::1]', 'http://[fd00::1]:80'],
    ['::1:8000', 'http://[::1]:8000'],
    ['a:b::c:8000', 'http://[a:b::c]:8000'],
    ['1:2:3:4:5:6:7:8:8000', 'http://[1:2:3:4:5:6:7:8]:8000'],
    ['[::ffff:10.0.0.1]:8000', 'http://10.0.0.1:8000'],
    ['::ffff:10.0.0.1:8000', 'http://10.0.0.1:8000'],
    ['[::ffff:a00:1]:8000', 'http://10.0.0.1:8000'],
    ['[2001:db8:0:1:0:0:0:1]:1', 'http://[2001:db8:0:1::1]:1'],
    ['10.0.0.1:65535', 'http://10.0.0.1:65535'],
  ])('%s → %s', (text, endpoint) => {
    expect(endpointOf(text)).toBe(endpoint);
  });

  it('gives the parts', () => {
    expect(parseEndpoint('https://[FD00::1]:8000')).toEqual({
      ok: true,
      endpoint: 'https://[fd00::1]:8000',
      scheme: 'https',
      host: 'fd00::1',
      hostKind: 'ip',
      port: 8000,
    });
    expect(parseEndpoint('engine:8000')).toMatchObject({ hostKind: 'name', host: 'engine' });
  });

  it('is its own canonical form', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV6().map((host) => `[${host}]`), fc.domain()),
        fc.integer({ min: 1, max: 65_535 }),
        (host, port) => {
          const first = parseEndpoint(`${host}:${port}`);
          if (first.ok) expect(endpointOf(first.endpoint)).toBe(first.endpoint);
        },
      ),
    );
  });
});

describe('refusals say why', () => {
  it.each([
    ['', /empty/],
    ['engine', /port is missing/],
    ['10.0.0.1', /port is missing/],
    ['[::1]', /port is missing/],
    ['10.0.0.1:', /port must be/],
    ['10.0.0.1:0', /port must be/],
    ['10.0.0.1:00080', /port must be/],
    ['10.0.0.1:99999', /port must be/],
    ['10.0.0.1:-1', /port must be/],
    ['10.0.0.1:8e3', /port must be/],
    ['http://10.0.0.1:', /port must be/],
    [' 10.0.0.1:8000', /spaces/],
    ['10.0.0.1 :8000', /spaces/],
    ['10.0.0.1:8000\n', /spaces/],
    ['１０.0.0.1:8000', /non-ASCII/],
    ['javascript:alert(1)', /port must be/],
    ['javascript://10.0.0.1:8000', /scheme must be/],
    ['file:///etc/passwd', /scheme must be/],
    ['tcp://10.0.0.1:8000', /scheme must be/],
    ['http://', /host is missing/],
    ['http://:8000', /host is missing/],
    [':8000', /host is missing/],
    ['http://user:secret@10.0.0.1:8000', /user names/],
    ['10.0.0.1:8000@evil:80', /user names/],
    ['http://10.0.0.1:8000/v1', /only scheme, host and port/],
    ['http://10.0.0.1:8000//', /only scheme, host and port/],
    ['http://10.0.0.1:8000?x=1', /only scheme, host and port/],
    ['http://10.0.0.1:8000#x', /only scheme, host and port/],
    ['http://10.0.0.1:8000\\@evil', /only scheme, host and port/],
    ['[fe80::1%25lo]:8000', /zone ids/],
    ['fe80::1%lo:8000', /zone ids/],
    ['[::1:8000', /brackets/],
    ['[::1]]:8000', /brackets/],
    ['[::1]8000', /brackets/],
    ['[10.0.0.1]:8000', /brackets are for IPv6/],
    ['::1', /not an IPv6 address|host is missing/],
    ['1::2::3:8000', /not an IPv6 address/],
    ['12345::1:8000', /not an IPv6 address/],
    ['1:2:3:4:5:6:7:8000', /not an IPv6 address/],
    ['0.0.0.0:8000', /any address/],
    ['[::]:8000', /any address/],
    ['[::ffff:0.0.0.0]:8000', /any address/],
    ['a..b:8000', /not a host name/],
    ['-a:8000', /not a host name/],
    ['a-.b:8000', /not a host name/],
    ['a*b:8000', /not a host name/],
    [`${'a'.repeat(64)}:8000`, /not a host name/],
    [`${'a.'.repeat(150)}a:8000`, /not a host name/],
    [`${'a'.repeat(1000)}:8000`, /longer than/],
  ])('%j', (text, reason) => {
    expect(reasonOf(text)).toMatch(reason);
  });

  it.each([
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '127.0.1',
    '0x7f000001',
    '0x7f.0.0.1',
    '0x7F.1',
    '127.0.0.1.',
    '2130706433.',
    '127.0.0.01',
    '10.0.0.256',
    '1.2.3.4.5',
    'engine.0x7f',
    'engine.1',
    '0x',
  ])('an address in disguise: %s', (host) => {
    expect(canonicalHost(host).ok).toBe(false);
    expect(reasonOf(`http://${host}:8000`)).toMatch(/four decimal numbers/);
  });

  it('never lets a host through that the URL parser would read as another one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4Extended(), fc.webAuthority({ withPort: true })), (text) => {
        const parsed = parseEndpoint(text);
        if (!parsed.ok) return;
        const url = new URL(parsed.endpoint);
        expect(url.hostname.replace(/^\[|\]$/g, '')).toBe(parsed.host);
      }),
      { numRuns: 2000 },
    );
  });
});
