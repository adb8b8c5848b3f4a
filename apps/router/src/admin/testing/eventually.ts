/** Polls until `assertion` holds; fails with its last complaint at the deadline. */
export async function eventually(assertion: () => unknown, timeoutMs = 5_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
