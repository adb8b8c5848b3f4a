/** The closed vocabularies of Switchyard; every list here is part of the public contract. */

export const roles = ['prefill', 'decode', 'regular'] as const;
/** What an engine does: `regular` does both phases of a request. */
export type Role = (typeof roles)[number];

/** A phase of a request; `single` is an undivided request, whatever the role of the worker that runs it. */
export type Phase = 'prefill' | 'decode' | 'single';

export const sourceKinds = ['zmq', 'static', 'file', 'kubernetes', 'admin'] as const;
/** Who states that an engine exists. */
export type SourceKind = (typeof sourceKinds)[number];

export const policyNames = [
  'random',
  'round_robin',
  'least_load',
  'power_of_two',
  'cache_aware',
  'consistent_hash',
  'rendezvous_hash',
  'sticky_least_loaded',
] as const;
export type PolicyName = (typeof policyNames)[number];

/** Why a placement fell on its worker. */
export type PlacementReason =
  | 'affinity'
  | 'no_match'
  | 'imbalance'
  | 'only_candidate'
  | 'random'
  | 'round_robin'
  | 'least_load'
  | 'power_of_two'
  | 'hash'
  | 'session'
  | 'pd_fallback'
  | 'pd_bypass';

/** Why a worker takes no new work at all. */
export type UnselectableReason =
  | 'gated'
  | 'unhealthy'
  | 'restart_check'
  | 'circuit_open'
  | 'draining'
  | 'drained'
  | 'at_capacity'
  | 'connector_unsupported';

/** Why a worker was not considered for one request. */
export type ExclusionReason = UnselectableReason | 'wrong_model' | 'incompatible_group' | 'already_failed' | 'failed_pair';

export const connectorFlagValues = ['auto', 'p2p-nccl', 'nixl', 'moriio'] as const;
/** What `--kv-connector` accepts. */
export type ConnectorFlag = (typeof connectorFlagValues)[number];

/** How an engine hands its KV cache over, as far as the router knows. */
export type ConnectorKind = 'unknown' | 'p2p-nccl' | 'nixl' | 'nixl-push' | 'moriio' | 'mooncake';
/** Where the knowledge of a connector comes from. */
export type ConnectorEvidence = 'none' | 'flag' | 'label' | 'address' | 'answer' | 'bootstrap';

export type AdminState = 'ready' | 'draining' | 'drained';
export type Health = 'unknown' | 'healthy' | 'suspect' | 'unhealthy';
export type Heartbeat = 'ok' | 'late' | 'lost' | 'none';
export type CircuitState = 'closed' | 'open' | 'half_open';

/** What ends a drain: a proven new engine process, or only an operator. */
export type DrainUntil = 'restart' | 'undrain';
export type OnDeadline = 'flag' | 'abort';

/** How a lease ended, for the worker it was on. */
export type LeaseResult = 'succeeded' | 'failed' | 'cancelled';
