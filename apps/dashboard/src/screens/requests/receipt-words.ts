import type { AttemptView, ReceiptView, RequestView } from '@switchyard/core/contracts';

import { bytes, count, percent, plural } from '../../parts/format.js';

type Candidate = AttemptView['candidates'][number];
type Exclusion = NonNullable<Candidate['excluded']>;

/** Why this worker and by what margin, as one would say it. */
export function choiceSentence(attempt: AttemptView): string {
  const { candidates, chosen, margin } = attempt;
  const considered = candidates.filter(({ excluded }) => excluded === undefined);
  const winner = candidates.find(({ id }) => id === chosen);
  const among = considered.length > 1 ? ` of ${plural(considered.length, 'candidate')}` : '';
  switch (attempt.reason) {
    case 'affinity':
      return `${chosen} already holds ${prefixOf(winner)}${aheadInBytes(winner, margin)}.`;
    case 'no_match':
      return `No candidate holds enough of this prompt${bestMatch(considered)}, so it went to the least busy one: ${chosen}${atPressure(winner, margin)}.`;
    case 'imbalance':
      return `Load was out of balance (pressure ${span(considered)}), so the cache did not count and it went to the least busy one: ${chosen}${atPressure(winner, margin)}.`;
    case 'only_candidate':
      return candidates.length > 1
        ? `${chosen} was the only candidate: the other ${plural(candidates.length - 1, 'worker was', 'workers were')} excluded.`
        : `${chosen} was the only worker of its pool.`;
    case 'power_of_two':
      return drawnPair(attempt, considered, winner);
    case 'least_load':
      return `${chosen} was the least busy${among}${atPressure(winner, margin, ':')}.`;
    case 'random':
      return `${chosen} was drawn at random${among}.`;
    case 'round_robin':
      return `It was ${chosen}’s turn in the round${among}.`;
    case 'hash':
      return `The session or prompt hashes to ${chosen}: equal keys come here as long as it takes work.`;
    case 'session':
      return `Earlier requests of this session ran on ${chosen}, and it still takes work.`;
    case 'pd_fallback':
      return `Prefill and decode could not be paired, so ${chosen} does both.`;
    case 'pd_bypass':
      return `The prompt is too short to be worth a hand-off, so ${chosen} does both.`;
    default:
      return attempt.reason satisfies never;
  }
}

function prefixOf(winner: Candidate | undefined): string {
  if (winner === undefined) return 'a part of this prompt';
  const share = winner.score === null ? '' : ` (${percent(winner.score)})`;
  return `${bytes(winner.matchBytes)} of this prompt${share}`;
}

function aheadInBytes(winner: Candidate | undefined, margin: number | null): string {
  if (margin === null) return '';
  if (margin === 0) return ', as much as the next; the less busy one went first';
  return margin === winner?.matchBytes ? '; no other candidate holds any of it' : `, ${bytes(margin)} more than the next`;
}

function bestMatch(considered: readonly Candidate[]): string {
  const best = Math.max(0, ...considered.map(({ score }) => score ?? 0));
  return best === 0 ? '' : ` (${percent(best)} at best)`;
}

function atPressure(winner: Candidate | undefined, margin: number | null, joint = ', with'): string {
  if (winner === undefined) return '';
  const lead = margin === null ? '' : margin === 0 ? ', equal to the next, but its turn came first' : `, ${count(margin)} less than the next`;
  return `${joint} pressure ${count(winner.pressure)}${lead}`;
}

function span(considered: readonly Candidate[]): string {
  const pressures = considered.map(({ pressure }) => pressure);
  return `${count(Math.min(...pressures))} to ${count(Math.max(...pressures))}`;
}

function drawnPair({ chosen, margin }: AttemptView, considered: readonly Candidate[], winner: Candidate | undefined): string {
  const other = considered.find(({ id, score }) => id !== chosen && score !== null);
  if (winner === undefined || other === undefined) return `${chosen} was the less busy one of two candidates drawn at random.`;
  const drawn = `${chosen} (pressure ${count(winner.pressure)}) and ${other.id} (pressure ${count(other.pressure)}) were drawn at random`;
  return margin === 0 ? `${drawn}; both were as busy, and ${chosen}’s turn came first.` : `${drawn}; ${chosen} was less busy by ${count(margin ?? 0)}.`;
}

const exclusions: Readonly<Record<Exclusion, string>> = {
  gated: 'has not passed a health check yet',
  unhealthy: 'unhealthy',
  restart_check: 'may have restarted; being checked',
  circuit_open: 'circuit open after failures',
  draining: 'draining',
  drained: 'drained',
  at_capacity: 'at capacity',
  connector_unsupported: 'KV connector not supported',
  wrong_model: 'does not serve this model',
  incompatible_group: 'in another pairing group',
  already_failed: 'already failed this request',
  failed_pair: 'this pair already failed',
};

export const exclusionWords = (excluded: Exclusion): string => exclusions[excluded];

const reasons: Readonly<Record<AttemptView['reason'], string>> = {
  affinity: 'cache affinity',
  no_match: 'no match',
  imbalance: 'imbalance',
  only_candidate: 'only candidate',
  random: 'random',
  round_robin: 'round robin',
  least_load: 'least load',
  power_of_two: 'power of two',
  hash: 'hash',
  session: 'session',
  pd_fallback: 'fallback',
  pd_bypass: 'bypass',
};

export const reasonWords = (reason: AttemptView['reason']): string => reasons[reason];

export type OutcomeTone = 'running' | 'good' | 'neutral' | 'bad';

export interface OutcomeWords {
  readonly tone: OutcomeTone;
  readonly word: string;
}

/** How a request ended, or where it is. */
export function outcomeOf({ state, outcome, status, firstByteMs, prefillId, decodeId, singleId }: RequestView): OutcomeWords {
  if (state === 'inflight') {
    if (firstByteMs !== null) return { tone: 'running', word: 'Streaming' };
    if (decodeId !== null || singleId !== null) return { tone: 'running', word: 'Waiting for first token' };
    return { tone: 'running', word: prefillId === null ? 'Queued' : 'Prefill' };
  }
  if (outcome === 'ok') return { tone: 'good', word: 'OK' };
  if (outcome === 'client_gone') return { tone: 'neutral', word: 'Client left' };
  if (outcome === 'engine_error') return { tone: 'bad', word: status === null ? 'Engine error' : `Engine error ${status}` };
  return { tone: 'bad', word: outcome === null ? 'Unknown' : sentenceCase(outcome) };
}

const sentenceCase = (code: string): string => code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ');

/** How one attempt ended. */
export function attemptOutcomeOf(outcome: string | null): OutcomeWords {
  if (outcome === null) return { tone: 'running', word: 'Running' };
  if (outcome === 'ok') return { tone: 'good', word: 'OK' };
  if (outcome === 'cancelled') return { tone: 'neutral', word: 'Cancelled' };
  return { tone: 'bad', word: sentenceCase(outcome) };
}

/** What became of the prediction how much of the prompt the engine has cached; `null` = the engine told nothing. */
export function predictionSentence({ predictedCachedTokens: predicted, reportedCachedTokens: reported }: ReceiptView): string | null {
  if (reported === null) return null;
  if (predicted === null) return `The engine found ${plural(reported, 'token')} of the prompt in its cache.`;
  if (predicted === reported) return `Predicted exactly: ${plural(reported, 'cached token')}.`;
  const miss = Math.abs(predicted - reported);
  return `The engine found ${plural(reported, 'cached token')}, ${count(miss)} ${reported < predicted ? 'fewer' : 'more'} than predicted.`;
}
