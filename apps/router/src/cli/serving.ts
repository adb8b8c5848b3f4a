import { type WorkerAnswer } from '../operator/admin-answers.schema.js';

/** Group of workers that are not known to belong anywhere; they pair with all. */
const anyGroup = '*';

/** What requests find now, as the rest of a sentence that begins with `serving`. */
export function servingWords(workers: readonly WorkerAnswer[]): string {
  const kind = placeable(workers);
  if (kind === null) return `nothing: ${whyNothing(workers)}`;
  const models = [...new Set(workers.flatMap((worker) => worker.models))].sort();
  const unserved = models.filter((model) => placeable(workers.filter((worker) => !worker.modelsKnown || worker.models.includes(model))) === null);
  return unserved.length === 0 ? kind : `${kind}, but not ${unserved.join(', ')}`;
}

function placeable(workers: readonly WorkerAnswer[]): 'prefill/decode pairs' | 'regular workers' | null {
  const open = (role: string): readonly WorkerAnswer[] => workers.filter((worker) => worker.role === role && worker.selectable);
  const decodes = open('decode');
  if (open('prefill').some((prefill) => decodes.some((decode) => pairs(prefill, decode)))) return 'prefill/decode pairs';
  return open('regular').length > 0 ? 'regular workers' : null;
}

const pairs = (one: WorkerAnswer, other: WorkerAnswer): boolean =>
  one.group === other.group || [one.group, other.group].some((group) => group === null || group === anyGroup);

function whyNothing(workers: readonly WorkerAnswer[]): string {
  const has = (role: string): boolean => workers.some((worker) => worker.role === role && worker.selectable);
  return has('prefill') && has('decode')
    ? 'no selectable prefill and decode worker are of one group'
    : 'no selectable pair and no regular worker';
}
