// The yardstick of benchmarks: the least that a relay of node:http and undici does. Frozen; do not improve.
// Usage: node bare-relay.mjs LISTEN_PORT ENGINE_ORIGIN
import { createServer } from 'node:http';
import { Pool } from 'undici';

const [, , port = '0', origin = 'http://127.0.0.1:8100'] = process.argv;
const pool = new Pool(origin, { pipelining: 1, keepAliveTimeout: 3000, headersTimeout: 0, bodyTimeout: 0 });
const dropped = new Set(['connection', 'keep-alive', 'transfer-encoding']);

const server = createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    let stop = null;
    let resume = null;
    res.on('close', () => res.writableFinished || stop?.());
    res.on('drain', () => resume?.());
    const headers = { 'content-type': req.headers['content-type'] ?? 'application/json' };
    pool.dispatch({ path: req.url, method: req.method, headers, body: body.length === 0 ? null : body }, {
      onConnect(abort) {
        stop = abort;
      },
      onHeaders(status, raw, resumeUpstream, statusText) {
        resume = resumeUpstream;
        const head = [];
        for (let i = 0; i < raw.length; i += 2) {
          const name = raw[i].toString('latin1');
          if (!dropped.has(name.toLowerCase())) head.push(name, raw[i + 1].toString('latin1'));
        }
        res.writeHead(status, statusText, head);
        return true;
      },
      onData(chunk) {
        return res.write(chunk);
      },
      onComplete() {
        res.end();
      },
      onError(error) {
        if (res.headersSent) res.destroy(error);
        else res.writeHead(502).end();
      },
    });
  });
});

server.listen(Number(port), '127.0.0.1', () => console.log(`listening ${server.address().port}`));
