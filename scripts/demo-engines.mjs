import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** Slow enough that requests are seen in flight. */
const usual = { prefillUsPerToken: 400, decodeMsPerToken: 25 };

const fleet = [
  { role: 'prefill', number: 1, ...usual },
  { role: 'prefill', number: 2, ...usual, trouble: flap },
  { role: 'decode', number: 1, ...usual, trouble: failNowAndThen },
  { role: 'decode', number: 2, ...usual, trouble: restartNowAndThen },
  { role: 'decode', number: 3, ...usual, decodeMsPerToken: 80, trouble: beSlow },
];

export const models = ['sim-model', 'sim-coder'];

/** Starts two prefill and three decode engines, and the troubles that some of them have until `signal` aborts. */
export function startEngines({ children, discovery, signal, tell }) {
  for (const member of fleet) void live({ ...member, children, discovery, signal, tell });
}

async function live({ trouble, ...parts }) {
  const engine = new DemoEngine(parts);
  await engine.start();
  try {
    await trouble?.(engine, parts);
  } catch (error) {
    if (!parts.signal.aborted) throw error;
  }
}

class DemoEngine {
  name;
  #parts;
  /** The same in every life: it is one endpoint that restarts. */
  #port = 0;

  constructor(parts) {
    this.#parts = parts;
    this.name = `${parts.role} engine ${parts.number}`;
  }

  async start({ bootSecs = 0 } = {}) {
    const { children, discovery, role, prefillUsPerToken, decodeMsPerToken } = this.#parts;
    const flags = {
      role,
      port: this.#port,
      router: discovery,
      connector: 'nixl',
      'boot-secs': bootSecs,
      'prefill-us-per-token': prefillUsPerToken,
      'decode-ms-per-token': decodeMsPerToken,
    };
    const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
    const child = children.start(this.name, 'dist/apps/engine-sim/main.js', [...args, ...models.flatMap((model) => ['--model', model])]);
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /^listening http=\S*:(\d+) /.exec(line)?.[1];
      if (port === undefined) continue;
      this.#port = Number(port);
      return;
    }
  }

  stop() {
    return this.#parts.children.stop(this.name);
  }

  async fault(fault) {
    await fetch(`http://127.0.0.1:${this.#port}/__sim/fault`, { method: 'POST', body: JSON.stringify(fault), signal: this.#parts.signal });
  }
}

/** Silent for longer than a registration lives, then back, so that it lives three times within five minutes. */
async function flap(engine, { signal }) {
  for (;;) {
    await sleep(40_000, undefined, { signal });
    await engine.fault({ kind: 'stop_ping' });
    await sleep(14_000, undefined, { signal });
    await engine.fault({ kind: 'resume_ping' });
  }
}

/** A new process at the same address: the router sees a new generation, and requests that were cut are placed anew. */
async function restartNowAndThen(engine, { signal, tell }) {
  for (;;) {
    await sleep(75_000, undefined, { signal });
    tell(`${engine.name} restarts`);
    await engine.stop();
    await sleep(2000, undefined, { signal });
    await engine.start({ bootSecs: 3 });
  }
}

/** Prompts wait for their first token here long enough to be seen between prefill and decode. */
async function beSlow(engine) {
  await engine.fault({ kind: 'slow_first_byte', ms: 1500 });
}

/** One answer in a while is an error that the router mends with another worker. */
async function failNowAndThen(engine, { signal }) {
  for (;;) {
    await sleep(20_000, undefined, { signal });
    await engine.fault({ kind: 'status', status: 500, times: 1, body: { error: { message: 'CUDA error: an illegal memory access was encountered' } } });
  }
}
