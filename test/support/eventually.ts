/** Polls until `probe` returns something truthy or stops throwing; fails with its last complaint at the deadline. */
export async function eventually<T>(what: string, probe: () => Promise<T> | T, timeoutMs = 10_000, everyMs = 25): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  let complaint: unknown = 'it stayed falsy';
  while (Date.now() < deadline) {
    try {
      const value = await probe();
      if (value !== undefined && value !== null && value !== false) return value;
      complaint = 'it stayed falsy';
    } catch (error) {
      complaint = error;
    }
    await pause(everyMs);
  }
  throw new Error(`not within ${String(timeoutMs)} ms: ${what} (${complaint instanceof Error ? complaint.message : String(complaint)})`);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
