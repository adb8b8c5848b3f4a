import { connectorByAddress, connectorLabels, groupLabelForm, parseEndpoint, type Registration, type Role, zmqAddressForm } from '@switchyard/core';
import { type RejectionReason } from './discovery-source.js';
import { type MsgpackMap, readMsgpack } from './msgpack-reader.js';

export type DecodedRegistration =
  | { readonly ok: true; readonly registration: Registration; readonly host: string }
  | { readonly ok: false; readonly reason: RejectionReason; readonly detail: string };

type FieldFault = Extract<DecodedRegistration, { ok: false }>;
type Connector = NonNullable<Registration['connector']>;

const rolesByType: ReadonlyMap<unknown, Role> = new Map([
  ['P', 'prefill'],
  ['D', 'decode'],
]);
const instanceText = /^[\x20-\x7e]{1,256}$/;

/**
 * Reads the one frame of a registration: a msgpack map with `type`, `http_address`, `zmq_address`, of MoRI-IO also
 * `transfer_mode`, of announcers also `instance`, `connector`, `group`, `started_at`. Keys it does not know are left
 * alone. Never throws.
 */
export function decodeRegistration(frame: Uint8Array, ttlMs: number): DecodedRegistration {
  const read = readMsgpack(frame);
  if (!read.ok) return fault('bad_msgpack', read.reason);
  if (!(read.value instanceof Map)) return fault('bad_msgpack', 'the message is not a map');
  return registrationOf(read.value as MsgpackMap, ttlMs);
}

function registrationOf(fields: MsgpackMap, ttlMs: number): DecodedRegistration {
  const role = rolesByType.get(fields.get('type'));
  if (!role) return fault('bad_type', `type must be "P" or "D", not ${shown(fields.get('type'))}`);

  const address = fields.get('http_address');
  const parsed = typeof address === 'string' ? parseEndpoint(address) : null;
  if (!parsed) return fault('bad_http_address', `http_address must be text, not ${shown(address)}`);
  if (!parsed.ok) return fault('bad_http_address', `http_address ${shown(address)}: ${parsed.reason}`);

  // Engines that hand over without a ZMQ channel have none; their announcers leave the key out.
  const zmqAddress = textOrNull(fields.get('zmq_address') === '' ? null : fields.get('zmq_address'), zmqAddressForm);
  if (zmqAddress === undefined) {
    return fault('bad_zmq_address', `zmq_address must be printable text without spaces or ___, not ${shown(fields.get('zmq_address'))}`);
  }

  const instance = textOrNull(fields.get('instance'), instanceText);
  if (instance === undefined) return fault('bad_field', `instance must be printable text, not ${shown(fields.get('instance'))}`);
  const group = textOrNull(fields.get('group'), groupLabelForm);
  if (group === undefined) return fault('bad_field', `group must be 1 to 128 letters, digits, dots, dashes or underscores, not ${shown(fields.get('group'))}`);
  const startedAtSecs = fields.get('started_at') ?? null;
  if (startedAtSecs !== null && !(typeof startedAtSecs === 'number' && Number.isFinite(startedAtSecs) && startedAtSecs > 0)) {
    return fault('bad_field', `started_at must be Unix seconds, not ${shown(startedAtSecs)}`);
  }
  const transferMode = fields.get('transfer_mode') ?? null;
  if (transferMode !== null && transferMode !== 'READ' && transferMode !== 'WRITE') {
    return fault('bad_field', `transfer_mode must be "READ" or "WRITE", not ${shown(transferMode)}`);
  }
  const connector = connectorOf(fields.get('connector') ?? null, zmqAddress, transferMode);
  if (connector === undefined) return fault('bad_field', `connector must be one of ${connectorLabels.join(', ')}, not ${shown(fields.get('connector'))}`);

  return {
    ok: true,
    host: parsed.host,
    registration: {
      source: 'zmq',
      role,
      endpoint: parsed.endpoint,
      zmqAddress,
      instance,
      group,
      connector,
      transferMode,
      startedAtSecs,
      models: null,
      ttlMs,
    },
  };
}

/** A label is a statement; the shape of the address and the mode are MoRI-IO's alone. `undefined` = an unknown label. */
function connectorOf(label: unknown, zmqAddress: string | null, transferMode: string | null): Connector | null | undefined {
  if (label !== null) {
    const kind = connectorLabels.find((known) => known === label);
    return kind && { kind, evidence: 'label' };
  }
  return transferMode === null ? connectorByAddress(zmqAddress) : { kind: 'moriio', evidence: 'address' };
}

/** `null` when absent, `undefined` when it is not such text. */
function textOrNull(value: unknown, form: RegExp): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' && form.test(value) ? value : undefined;
}

function fault(reason: RejectionReason, detail: string): FieldFault {
  return { ok: false, reason, detail };
}

/** A foreign value for a log line: one line, bounded. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 120)).replace(/[^\x20-\x7e]/g, '?');
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : value instanceof Map ? 'a map' : 'binary';
}
