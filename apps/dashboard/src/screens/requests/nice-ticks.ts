const steps = [1, 2, 2.5, 5, 10];

/** Round marks of an axis from 0 over `totalMs` > 0, four to eight of them, and where the axis ends. */
export function niceTicks(totalMs: number): { readonly ticks: readonly number[]; readonly endMs: number } {
  const rough = totalMs / 7;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (steps.find((one) => one * power >= rough) ?? 10);
  const ticks: number[] = [];
  for (let at = 0; at * step <= totalMs; at += 1) ticks.push(Number((at * step).toPrecision(6)));
  return { ticks, endMs: Math.max(totalMs, (ticks.at(-1) ?? 0) + step * 0.35) };
}
