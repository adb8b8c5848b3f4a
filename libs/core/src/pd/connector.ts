import { type EditedBody } from '../json/json-edit.js';
import { type JsonDocument } from '../json/json-document.js';
import { type PlacedWorker } from '../scheduling/scheduler-port.js';
import { type ConnectorKind } from '../words.js';
import { type PrefillAnswer } from './prefill-answer.js';

/** `bytes` random bytes as lower-case hexadecimal digits. */
export type RandomHex = (bytes: number) => string;

/** What a forced tool call becomes on the prefill leg: `none`, or kept for engines that need it. */
export type PrefillToolChoice = 'none' | 'keep';

/** One attempt of one request over a placed pair. */
export interface PairAttempt {
  /** The client's body. */
  readonly document: JsonDocument;
  readonly prefill: PlacedWorker;
  /** `null` only for connectors with late binding. */
  readonly decode: PlacedWorker | null;
  /** The request id that the client sees. */
  readonly clientRequestId: string;
  readonly toolChoice: PrefillToolChoice;
  readonly randomHex: RandomHex;
}

/** What goes to an engine: the body and the `X-Request-Id`. */
export interface EngineLeg {
  readonly requestId: string;
  readonly body: EditedBody;
}

export interface PrefillLeg extends EngineLeg {
  /** Names the hand-off in both legs' params, where the connector has such a name. */
  readonly transferId: string | null;
}

export interface DecodeLeg extends EngineLeg {
  /**
   * The engine may take the KV cache of this attempt's prefill, which it can do only once: a call that perhaps
   * reached it must not be repeated. False when decode computes the prompt by itself.
   */
  readonly carriesHandoff: boolean;
}

/**
 * How a KV connector's two legs are written and its prefill answer is read. Pure: one attempt's calls depend on
 * nothing but what is given.
 */
export interface Connector {
  readonly kind: ConnectorKind;
  /** `early`: the prefill call names the decode worker. `late`: decode may be chosen after prefill. */
  readonly binding: 'early' | 'late';
  /** Writes the prefill leg. Throws a RangeError when binding is early and the attempt has no decode worker. */
  prefillLeg(attempt: PairAttempt): PrefillLeg;
  /** Reads the whole body of a 2xx prefill answer. Linear. */
  readPrefillAnswer(body: Uint8Array): PrefillAnswer;
  /** Writes the decode leg from the client's body, this attempt's prefill leg and its answer. */
  decodeLeg(document: JsonDocument, prefillLeg: PrefillLeg, answer: GoodPrefillAnswer): DecodeLeg;
}

export type GoodPrefillAnswer = Extract<PrefillAnswer, { readonly kind: 'answer' }>;
