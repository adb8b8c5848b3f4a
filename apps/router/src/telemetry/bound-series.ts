/** Gives the series of one label value. */
export type Bound<T> = (label: string) => T;

/** Series of a metric with one label, bound at its first use; the values come from closed vocabularies. */
export function bound<T>(metric: { labels(value: string): T }): Bound<T> {
  const series = new Map<string, T>();
  return (label) => {
    let found = series.get(label);
    if (found === undefined) series.set(label, (found = metric.labels(label)));
    return found;
  };
}
