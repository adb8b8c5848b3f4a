import { type JsonDocument, scanDocument, valueOf } from '../json/json-document.js';
import { type JsonFailure } from '../json/json-failure.js';
import { JsonReader } from '../json/json-reader.js';
import { kindAt, numberAt, rawAt, stringAt } from '../json/json-value.js';
import { type HandoffFacts } from '../scheduling/scheduler-port.js';

export interface PrefillUsage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Zero is a statement, `null` is none. */
  readonly cachedTokens: number | null;
}

export type PrefillAnswer =
  | {
      readonly kind: 'answer';
      /** The answer's `kv_transfer_params` object, byte for byte; `null` when there is none or it is empty. */
      readonly params: Uint8Array | null;
      readonly facts: HandoffFacts;
      /** Of the first choice. */
      readonly finishReason: string | null;
      readonly usage: PrefillUsage | null;
    }
  /** A 2xx answer that carries an `error` object: the engine failed, and decode must not be called. */
  | { readonly kind: 'engine_error' }
  | { readonly kind: 'invalid'; readonly failure: JsonFailure };

/**
 * Reads a completion answer of a prefill engine: what it hands over, and what that proves. Evidence is positive only:
 * an answer without params says nothing about the connector. Linear; never throws.
 */
export function readPrefillAnswer(body: Uint8Array): PrefillAnswer {
  const scan = scanDocument(body);
  if (scan.kind === 'invalid') return scan;
  if (scan.kind === 'not_object') {
    return { kind: 'invalid', failure: { kind: 'syntax', offset: 0, reason: `expected an object, not ${scan.valueKind}` } };
  }
  const { document } = scan;
  if (objectMember(document, 'error') !== null) return { kind: 'engine_error' };
  const params = objectMember(document, 'kv_transfer_params');
  const handedOver = params !== null && params.members.length > 0 ? params : null;
  return {
    kind: 'answer',
    params: handedOver === null ? null : handedOver.bytes,
    facts: factsOf(handedOver),
    finishReason: finishReasonOf(document),
    usage: usageOf(document),
  };
}

function factsOf(params: JsonDocument | null): HandoffFacts {
  if (params === null) return { connector: null, engineId: null };
  const engineId = stringMember(params, 'remote_engine_id') ?? stringMember(params, 'engine_id');
  return {
    connector: stringMember(params, 'transfer_mode') === 'push' ? 'nixl-push' : 'nixl',
    // Data-parallel ranks of one engine process append their rank to its id.
    engineId: engineId === null ? null : engineId.replace(/_dp\d+$/, ''),
  };
}

function finishReasonOf(document: JsonDocument): string | null {
  const choices = valueOf(document, 'choices');
  if (choices === undefined || kindAt(document.bytes, choices) !== 'array') return null;
  const reader = new JsonReader(rawAt(document.bytes, choices));
  if (!reader.enterArray() || reader.valueKind() !== 'object') return null;
  const start = reader.position;
  reader.skipValue();
  const choice = scanDocument(reader.bytes.subarray(start, reader.position));
  return choice.kind === 'object' ? stringMember(choice.document, 'finish_reason') : null;
}

function usageOf(document: JsonDocument): PrefillUsage | null {
  const usage = objectMember(document, 'usage');
  if (usage === null) return null;
  const details = objectMember(usage, 'prompt_tokens_details');
  return {
    promptTokens: countMember(usage, 'prompt_tokens'),
    completionTokens: countMember(usage, 'completion_tokens'),
    cachedTokens: details === null ? null : countMember(details, 'cached_tokens'),
  };
}

function objectMember(document: JsonDocument, name: string): JsonDocument | null {
  const value = valueOf(document, name);
  if (value === undefined || kindAt(document.bytes, value) !== 'object') return null;
  const scan = scanDocument(rawAt(document.bytes, value));
  return scan.kind === 'object' ? scan.document : null;
}

function stringMember(document: JsonDocument, name: string): string | null {
  const value = valueOf(document, name);
  return value === undefined ? null : stringAt(document.bytes, value);
}

function countMember(document: JsonDocument, name: string): number | null {
  const value = valueOf(document, name);
  const count = value === undefined ? null : numberAt(document.bytes, value);
  return count !== null && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
