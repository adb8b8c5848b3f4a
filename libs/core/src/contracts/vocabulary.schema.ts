import { z } from 'zod';

import { policyNames, roles, sourceKinds } from '../words.js';

/** ISO 8601 in UTC with milliseconds. */
export const isoTime = z.iso.datetime({ precision: 3 }).meta({ id: 'Time' });

export const roleSchema = z.enum(roles);
export const policyNameSchema = z.enum(policyNames);
export const sourceKindSchema = z.enum(sourceKinds);
export const phaseSchema = z.enum(['prefill', 'decode', 'single']);

export const unselectableReasonSchema = z.enum([
  'gated',
  'unhealthy',
  'restart_check',
  'circuit_open',
  'draining',
  'drained',
  'at_capacity',
  'connector_unsupported',
]);
export const exclusionReasonSchema = z.enum([
  ...unselectableReasonSchema.options,
  'wrong_model',
  'incompatible_group',
  'already_failed',
  'failed_pair',
]);
export const placementReasonSchema = z.enum([
  'affinity',
  'no_match',
  'imbalance',
  'only_candidate',
  'random',
  'round_robin',
  'least_load',
  'power_of_two',
  'hash',
  'session',
  'pd_fallback',
  'pd_bypass',
]);

export const connectorKindSchema = z.enum(['unknown', 'p2p-nccl', 'nixl', 'nixl-push', 'moriio', 'mooncake']);
export const connectorEvidenceSchema = z.enum(['none', 'flag', 'label', 'address', 'answer', 'bootstrap']);
export const adminStateSchema = z.enum(['ready', 'draining', 'drained']);
export const healthSchema = z.enum(['unknown', 'healthy', 'suspect', 'unhealthy']);
export const heartbeatSchema = z.enum(['ok', 'late', 'lost', 'none']);
export const circuitStateSchema = z.enum(['closed', 'open', 'half_open']);
export const leaveReasonSchema = z.enum(['expired', 'replaced', 'withdrawn', 'evicted']);
export const drainUntilSchema = z.enum(['restart', 'undrain']);
export const onDeadlineSchema = z.enum(['flag', 'abort']);
