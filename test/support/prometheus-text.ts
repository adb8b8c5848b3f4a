export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g;

/** Samples of a Prometheus text exposition (https://prometheus.io/docs/instrumenting/exposition_formats/); throws on a line that is none. */
export function readSamples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith('#'))
    .map((each) => {
      const match = line.exec(each);
      if (match === null) throw new Error(`not a sample: ${each}`);
      const [, name = '', labels = '', value = ''] = match;
      const pairs = [...labels.matchAll(label)];
      if (pairs.map(([whole]) => whole).join('').replace(/,$/, '') !== labels.replace(/,$/, '')) throw new Error(`bad labels: ${each}`);
      return { name, labels: Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, text])), value: value === '+Inf' ? Infinity : Number(value) };
    });
}

/** Sum over the samples of `name` whose labels include `labels`. */
export function sumOf(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
