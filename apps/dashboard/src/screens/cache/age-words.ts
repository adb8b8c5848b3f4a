const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** An age in its largest unit: `now`, `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function ageWords(ageMs: number): string {
  const unit = units.find(([, ms]) => ageMs >= ms);
  return unit === undefined ? 'now' : `${Math.floor(ageMs / unit[1])} ${unit[0]} ago`;
}
