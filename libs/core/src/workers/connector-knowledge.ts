import { type Registration } from '../registry/registration.js';
import { type ConnectorEvidence, type ConnectorFlag, type ConnectorKind } from '../words.js';

export interface ConnectorKnowledge {
  readonly kind: ConnectorKind;
  readonly evidence: ConnectorEvidence;
}

/**
 * How a worker hands its KV cache over: its registration's label beats the flag; an address, a bootstrap port or an
 * answer decides only where neither speaks.
 */
export function connectorKnowledge(
  flag: ConnectorFlag,
  stated: Registration['connector'],
  answered: ConnectorKind | null,
): ConnectorKnowledge {
  if (stated?.evidence === 'label') return stated;
  if (flag !== 'auto') return { kind: flag, evidence: 'flag' };
  if (stated !== null) return stated;
  if (answered !== null) return { kind: answered, evidence: 'answer' };
  return { kind: 'unknown', evidence: 'none' };
}

/** Whether decode must be chosen together with prefill: its address goes into the prefill call. */
export function bindsEarly(kind: ConnectorKind): boolean {
  return kind === 'unknown' || kind === 'p2p-nccl' || kind === 'moriio';
}

/** Whether this router can drive the connector. */
export function connectorSupported(kind: ConnectorKind, transferMode: 'READ' | 'WRITE' | null): boolean {
  return kind !== 'mooncake' && !(kind === 'moriio' && transferMode === 'WRITE');
}
