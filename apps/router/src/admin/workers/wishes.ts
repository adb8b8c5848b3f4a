import { connectorByAddress, type DrainWish, type EvictWish, parseEndpoint, type Registration } from '@switchyard/core';
import { type AddWorker, type DrainWorker, type EvictWorker } from '@switchyard/core/contracts';

import { AdminError } from '../errors/admin-error.js';

/** Bodies of operators as the core understands them. */
export function drainWish(body: Omit<DrainWorker, 'ifGeneration'>, by: string): DrainWish {
  const { reason = null, deadlineSecs, onDeadline, until, force } = body;
  return { by, reason, deadlineMs: deadlineSecs === undefined ? null : deadlineSecs * 1000, onDeadline, until, force };
}

export function evictWish({ reason, quarantineSecs, abortInflight, force }: EvictWorker, by: string): EvictWish {
  return { by, reason, quarantineMs: quarantineSecs === -1 ? null : quarantineSecs * 1000, abortInflight, force };
}

export function addedRegistration({ role, url, zmqAddress, models, group }: AddWorker): Registration {
  return {
    source: 'admin',
    role,
    endpoint: canonicalEndpoint(url, 'url'),
    zmqAddress: zmqAddress ?? null,
    instance: null,
    group: group ?? null,
    connector: connectorByAddress(zmqAddress ?? null),
    transferMode: null,
    startedAtSecs: null,
    models: models ?? null,
    ttlMs: null,
  };
}

/** The canonical form of what was given as `field`; refuses what is no endpoint. */
export function canonicalEndpoint(text: string, field: string): string {
  const parsed = parseEndpoint(text);
  if (parsed.ok) return parsed.endpoint;
  const message = `${field}: ${JSON.stringify(text)} is not the base URL of an engine: ${parsed.reason}`;
  throw new AdminError('invalid_request', message, {
    remedy: 'write it as host:port or http://host:port, an IPv6 address in brackets',
    details: { issues: [{ field, message: parsed.reason }] },
  });
}
