import { type Registration, type Role, type SourceKind } from '@switchyard/core';
import { type DiscoverySink, type RejectionReason } from './discovery-source.js';

/** Remembers what a source says, and waits for it. */
export class RecordingSink implements DiscoverySink {
  readonly registrations: Registration[] = [];
  readonly withdrawals: { role: Role; endpoint: string; source: SourceKind }[] = [];
  readonly rejections: { reason: RejectionReason; sender: string; detail: string }[] = [];

  register(registration: Registration): void {
    this.registrations.push(registration);
  }

  withdraw(role: Role, endpoint: string, source: SourceKind): void {
    this.withdrawals.push({ role, endpoint, source });
  }

  rejected(reason: RejectionReason, sender: string, detail: string): void {
    this.rejections.push({ reason, sender, detail });
  }

  get calls(): number {
    return this.registrations.length + this.withdrawals.length + this.rejections.length;
  }
}

/** Polls until `holds` is true; fails after `deadlineMs` with what `describe` says. */
export async function until(holds: () => boolean, describe: () => unknown, deadlineMs = 10_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not in ${deadlineMs} ms: ${JSON.stringify(describe())}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
