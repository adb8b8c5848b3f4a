import type { WorkerView } from '@switchyard/core/contracts';

export interface RoleCount {
  readonly total: number;
  readonly selectable: number;
}

/** Prefill and decode workers that may serve one request together. */
export interface PairingGroup {
  readonly name: string;
  readonly prefill: RoleCount;
  readonly decode: RoleCount;
  readonly versions: readonly string[];
  readonly models: readonly string[];
  /** `null` = it can serve. */
  readonly warning: string | null;
}

const anyGroup = '*';

/** By name; regular workers serve alone and are in no group. */
export function pairingGroupsOf(workers: readonly WorkerView[]): readonly PairingGroup[] {
  const paired = workers.filter(({ role }) => role !== 'regular');
  const names = [...new Set(paired.map(({ group }) => group))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return names.map((name) => {
    const members = paired.filter(({ group }) => group === name);
    // A worker that is not known to belong anywhere pairs with all.
    const partners = paired.filter(({ group }) => group === name || group === anyGroup || name === anyGroup);
    const prefill = countOf(members, 'prefill');
    const decode = countOf(members, 'decode');
    return {
      name,
      prefill,
      decode,
      versions: distinct(members.flatMap(({ engine }) => engine?.version ?? [])),
      models: distinct(members.flatMap(({ models }) => models)),
      warning: warningOf(countOf(partners, 'prefill'), countOf(partners, 'decode')),
    };
  });
}

function countOf(workers: readonly WorkerView[], role: 'prefill' | 'decode'): RoleCount {
  const those = workers.filter((worker) => worker.role === role);
  return { total: those.length, selectable: those.filter(({ selectable }) => selectable).length };
}

function warningOf(prefill: RoleCount, decode: RoleCount): string | null {
  if (decode.total === 0) return 'No decode worker: its prefill workers stay idle.';
  if (prefill.total === 0) return 'No prefill worker: its decode workers stay idle.';
  if (prefill.selectable === 0) return 'No prefill worker takes requests now.';
  if (decode.selectable === 0) return 'No decode worker takes requests now.';
  return null;
}

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

export type Verdict =
  | { readonly kind: 'empty' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'partly'; readonly unserved: readonly string[] }
  | { readonly kind: 'down'; readonly why: string };

/** Whether requests can be placed now, model by model. */
export function verdictOf(workers: readonly WorkerView[]): Verdict {
  if (workers.length === 0) return { kind: 'empty' };
  if (!canPlace(workers)) return { kind: 'down', why: whyNothingPlaces(workers) };
  const models = distinct(workers.flatMap((worker) => worker.models));
  const unserved = models.filter((model) => !canPlace(workers.filter((worker) => !worker.modelsKnown || worker.models.includes(model))));
  return unserved.length === 0 ? { kind: 'serving' } : { kind: 'partly', unserved };
}

function canPlace(workers: readonly WorkerView[]): boolean {
  const open = workers.filter(({ selectable }) => selectable);
  const prefills = open.filter(({ role }) => role === 'prefill');
  const decodes = open.filter(({ role }) => role === 'decode');
  return (
    open.some(({ role }) => role === 'regular') ||
    prefills.some((p) => decodes.some((d) => p.group === d.group || p.group === anyGroup || d.group === anyGroup))
  );
}

function whyNothingPlaces(workers: readonly WorkerView[]): string {
  for (const role of ['prefill', 'decode'] as const) {
    const { total, selectable } = countOf(workers, role);
    if (total === 0) return `there is no ${role} worker`;
    if (selectable === 0) return `no ${role} worker is selectable`;
  }
  return 'no selectable prefill and decode worker are of one pairing group';
}
