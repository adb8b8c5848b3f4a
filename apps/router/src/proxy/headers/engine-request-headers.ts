import { type IncomingMessage } from 'node:http';
import { type ProxyOptions } from '../proxy-options.js';
import { isHopByHop, namedByConnection } from './hop-by-hop.js';

/** End-to-end names that are the router's business all the same. Content-Length is each leg's own. */
const ours: ReadonlySet<string> = new Set(['host', 'content-length', 'expect', 'cookie', 'x-data-parallel-rank', 'x-request-id']);

export interface EngineHeaderRules {
  /** `Bearer …` sent instead of the client's credentials; `null` = none. */
  readonly authorization: string | null;
  /** Clients prove themselves to the router, so their key is not for engines. */
  readonly dropCredentials: boolean;
}

export function engineHeaderRules(options: Pick<ProxyOptions, 'engineApiKey' | 'clientApiKeys'>): EngineHeaderRules {
  const { engineApiKey, clientApiKeys } = options;
  return {
    authorization: engineApiKey === null ? null : `Bearer ${engineApiKey}`,
    dropCredentials: engineApiKey !== null || clientApiKeys.length > 0,
  };
}

/**
 * The headers every leg of a request has in common, as a flat list of names and values: what the client sent, in its
 * order and with its duplicates, less what ends at the router.
 */
export function engineRequestHeaders(req: IncomingMessage, rules: EngineHeaderRules): string[] {
  const raw = req.rawHeaders;
  const named = namedByConnection(req.headers.connection);
  const headers: string[] = [];
  let typed = false;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const lower = name.toLowerCase();
    if (ours.has(lower) || isHopByHop(lower, named) || lower.startsWith('x-switchyard-')) continue;
    if (rules.dropCredentials && (lower === 'authorization' || lower === 'x-api-key')) continue;
    if (lower === 'content-type') typed = true;
    headers.push(name, raw[i + 1] ?? '');
  }
  if (!typed) headers.push('content-type', 'application/json');
  if (rules.authorization !== null) headers.push('authorization', rules.authorization);
  return headers;
}

/**
 * The same for a prefill leg, whose answer the router reads itself: it must come unencoded, whole and unconditionally.
 */
export function prefillRequestHeaders(common: readonly string[]): string[] {
  const headers: string[] = [];
  for (let i = 0; i + 1 < common.length; i += 2) {
    const name = common[i] ?? '';
    const lower = name.toLowerCase();
    if (lower === 'accept-encoding' || lower === 'range' || lower.startsWith('if-')) continue;
    headers.push(name, common[i + 1] ?? '');
  }
  headers.push('accept-encoding', 'identity');
  return headers;
}
