import { type Registration, type Role, type SourceKind } from '@switchyard/core';

export const rejectionReasons = [
  'forbidden_sender',
  'bad_frames',
  'bad_msgpack',
  'bad_type',
  'bad_http_address',
  'bad_zmq_address',
  'bad_field',
  'forbidden_host',
  'unresolvable_host',
  'busy',
] as const;
/** Why a statement of a source was not taken; closed, because it becomes a metric label. */
export type RejectionReason = (typeof rejectionReasons)[number];

/** Where sources put what they learn. Calls are synchronous and cheap; a source never waits for them. */
export interface DiscoverySink {
  register(registration: Registration): void;
  withdraw(role: Role, endpoint: string, source: SourceKind): void;
  /** `sender` and `detail` are printable and bounded, but come from outside: for log text only. */
  rejected(reason: RejectionReason, sender: string, detail: string): void;
}

/**
 * One way in which the router learns of engines.
 *
 * `start` states everything known at once or fails (then nothing is left running); it works once. `stop` is idempotent,
 * works before `start` too, and no call to the sink comes after it has resolved. Stopping withdraws nothing: the router
 * goes away, not the engines.
 */
export interface DiscoverySource {
  readonly kind: SourceKind;
  start(sink: DiscoverySink): Promise<void>;
  stop(): Promise<void>;
}
