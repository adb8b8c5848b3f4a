/** Unix milliseconds as ISO 8601 in UTC with milliseconds. */
export function isoTimeOf(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
