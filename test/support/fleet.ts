import { EngineProcess } from './engine-process.js';
import { RouterProcess, type RouterOptions } from './router-process.js';

/** Everything a test started, ended in reverse order whatever happens. */
export class Started {
  readonly #ends: (() => unknown)[] = [];

  add<T>(thing: T, end: (thing: T) => unknown): T {
    this.#ends.push(() => end(thing));
    return thing;
  }

  async router(flags: readonly string[] = [], options: RouterOptions = {}): Promise<RouterProcess> {
    return this.add(await RouterProcess.start(flags, options), (router) => router.stop());
  }

  async engine(flags: readonly string[]): Promise<EngineProcess> {
    return this.add(await EngineProcess.start(flags), (engine) => engine.stop());
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}
