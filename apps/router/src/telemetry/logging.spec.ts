import { Writable } from 'node:stream';

import { createLogger, NestLog } from './logging.js';

describe('logging', () => {
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  beforeEach(() => {
    lines.length = 0;
  });

  it('writes JSON where no terminal is, pretty lines where one is', () => {
    createLogger({ level: 'info', format: 'auto', terminal: false }, destination).info({ worker: 'decode-1' }, 'hello');
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, msg: 'hello', worker: 'decode-1', time: expect.stringMatching(/^\d{4}-.*Z$/) });
    createLogger({ level: 'info', format: 'pretty', terminal: false }, destination).info({ worker: 'decode-1' }, 'hello');
    expect(lines.slice(1).join('')).toMatch(/INFO: hello\n +worker: "decode-1"/);
  });

  it('keeps to the level', () => {
    const log = createLogger({ level: 'warn', format: 'json', terminal: false }, destination);
    log.info('quiet');
    log.warn('heard');
    expect(lines).toHaveLength(1);
  });

  it('passes on what the framework says, its chatter as debug', () => {
    const nest = new NestLog(createLogger({ level: 'info', format: 'json', terminal: false }, destination));
    nest.log('Starting Nest application...', 'NestFactory');
    nest.warn('careful', 'Router');
    nest.error(new Error('broken'), 'stack', 'Router');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, msg: 'careful', context: 'Router' }),
      expect.objectContaining({ level: 50, msg: 'broken', context: 'Router', err: expect.objectContaining({ message: 'broken' }) }),
    ]);
  });
});
