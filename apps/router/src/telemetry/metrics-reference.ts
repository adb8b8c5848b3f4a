import { type Metrics } from './metrics.js';

/** The catalogue of our own metrics, as Markdown; of all that `metrics` was told to watch. */
export async function metricsPage(metrics: Metrics): Promise<string> {
  const rows = (await metrics.registry.getMetricsAsJSON())
    .filter(({ name }) => name.startsWith('switchyard_'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, help, type }) => `| \`${name}\` | ${String(type)} | ${labelsOf(metrics, name)} | ${help} |`);
  return [
    '# Metrics',
    '',
    '`GET /metrics` on the admin port, in the Prometheus text format. It needs a token unless `--open-metrics` is set.',
    'Series of workers go when the worker goes; `departed="1"` marks work that an earlier generation still finishes.',
    'Metrics of the process itself come under their usual names, `process_…` and `nodejs_…`.',
    '',
    '| metric | type | labels | meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function labelsOf({ registry }: Metrics, name: string): string {
  const metric = registry.getSingleMetric(name) as { readonly labelNames?: readonly string[] } | undefined;
  return (metric?.labelNames ?? []).map((label) => `\`${label}\``).join(', ');
}
