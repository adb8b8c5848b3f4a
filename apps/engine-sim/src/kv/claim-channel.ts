import { createServer, request, type Server } from 'node:http';
import { type ClaimTarget } from './kv-connector.js';
import { type Claim, type ClaimRefusal, type HandOffStore } from './hand-off-store.js';
import { isViolationCode } from './violation.js';

const claimTimeoutMs = 5000;
const maxClaimBytes = 16 * 1024 * 1024;

function isClaim(value: unknown): value is Claim {
  if (typeof value !== 'object' || value === null) return false;
  const claim = value as Record<string, unknown>;
  const texts = [claim['key'], claim['vllmVersion'], claim['promptHash']];
  const optional = [claim['engineId'], claim['blockIds'], claim['nonce']];
  return texts.every((text) => typeof text === 'string') && optional.every((text) => text === null || typeof text === 'string');
}

function parseClaim(text: string): Claim | null {
  try {
    const value: unknown = JSON.parse(text);
    return isClaim(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * The side channel of a simulated engine, at the very address its KV connector registers:
 * decode engines claim hand-offs there as real ones pull blocks.
 */
export function createClaimServer(store: HandOffStore): Server {
  return createServer((req, res) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxClaimBytes) req.destroy();
      else chunks.push(chunk);
    });
    req.on('end', () => {
      const claim = req.method === 'POST' && req.url === '/__sim/claim' ? parseClaim(Buffer.concat(chunks).toString('utf8')) : null;
      if (claim === null) {
        res.writeHead(400).end();
        return;
      }
      const refusal = store.claim(claim);
      res.writeHead(refusal === null ? 200 : 409, { 'content-type': 'application/json' });
      res.end(refusal === null ? '{}' : JSON.stringify(refusal));
    });
  });
}

function readRefusal(text: string, status: number, place: string): ClaimRefusal {
  try {
    const value = JSON.parse(text) as { readonly code?: unknown; readonly message?: unknown };
    if (isViolationCode(value.code) && typeof value.message === 'string') return { code: value.code, message: value.message };
  } catch {
    // Not a simulated engine's answer: handled as such below.
  }
  return { code: 'prefill_gone', message: `${place} is no prefill engine's side channel, it answered ${status}` };
}

/** Claims at the prefill engine; `null` means granted. Never rejects. */
export function claimAt(target: ClaimTarget, rest: Pick<Claim, 'vllmVersion' | 'promptHash'>): Promise<ClaimRefusal | null> {
  const place = `${target.host}:${target.port}`;
  return new Promise((resolve) => {
    const gone = (reason: string): void => resolve({ code: 'prefill_gone', message: `hand-off ${target.claim.key}: prefill engine ${place} is gone: ${reason}` });
    const body = JSON.stringify({ ...target.claim, ...rest } satisfies Claim);
    const req = request(
      {
        host: target.host,
        port: target.port,
        method: 'POST',
        path: '/__sim/claim',
        agent: false,
        timeout: claimTimeoutMs,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve(res.statusCode === 200 ? null : readRefusal(text, res.statusCode ?? 0, place)));
        res.on('error', (error) => gone(error.message));
      },
    );
    req.on('timeout', () => req.destroy(new Error('no answer')));
    req.on('error', (error) => gone(error.message));
    req.end(body);
  });
}
