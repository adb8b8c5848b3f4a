import { parseEndpoint, roles } from '@switchyard/core';
import { type DiscoverySource } from './discovery-source.js';
import { RecordingSink, until } from './recording-sink.contract-suite.js';

export interface SourceUnderTest {
  readonly source: DiscoverySource;
  /** Brings about the statement of one more engine, or of the only ones; called while started, and again after stop. */
  state(): Promise<void>;
}

/** What every discovery source must keep, whatever it listens to. */
export function discoverySourceContract(name: string, make: () => Promise<SourceUnderTest>): void {
  describe(`${name} as a discovery source`, () => {
    const sources: DiscoverySource[] = [];
    const made = async () => {
      const subject = await make();
      sources.push(subject.source);
      return { ...subject, sink: new RecordingSink() };
    };
    afterEach(async () => {
      for (const source of sources.splice(0)) await source.stop();
    });

    it('states canonical endpoints in its own name', async () => {
      const { source, sink, state } = await made();
      await source.start(sink);
      await state();
      await until(() => sink.registrations.length > 0, () => sink.rejections);
      for (const registration of sink.registrations) {
        expect(registration.source).toBe(source.kind);
        expect(roles).toContain(registration.role);
        expect(parseEndpoint(registration.endpoint)).toMatchObject({ ok: true, endpoint: registration.endpoint });
        expect(registration.ttlMs === null || registration.ttlMs > 0).toBe(true);
      }
    });

    it('starts once', async () => {
      const { source, sink } = await made();
      await source.start(sink);
      await expect(source.start(new RecordingSink())).rejects.toThrow('starts once');
    });

    it('is silent after stop, and stopping withdraws nothing', async () => {
      const { source, sink, state } = await made();
      await source.start(sink);
      await state();
      await until(() => sink.registrations.length > 0, () => sink.rejections);
      await source.stop();
      const before = sink.calls;
      await state();
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(sink.calls).toBe(before);
      expect(sink.withdrawals).toEqual([]);
      await expect(source.stop()).resolves.toBeUndefined();
    });

    it('can be stopped before it starts, and then never starts', async () => {
      const { source, sink } = await made();
      await source.stop();
      await expect(source.start(sink)).rejects.toThrow('starts once');
      expect(sink.calls).toBe(0);
    });
  });
}
