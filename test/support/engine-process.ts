import { Child } from './child.js';

/** A simulated engine as a process of its own. */
export class EngineProcess {
  private constructor(
    readonly child: Child,
    /** `HOST:PORT` of its HTTP server. */
    readonly address: string,
    readonly flags: readonly string[],
  ) {}

  static async start(flags: readonly string[]): Promise<EngineProcess> {
    const port = flags.includes('--port') ? [] : ['--port', '0'];
    const child = new Child(process.execPath, ['dist/apps/engine-sim/main.js', ...port, ...flags]);
    const [, address = ''] = await child.line(/^listening http=(\S+)/);
    return new EngineProcess(child, address.replace(/^https?:\/\//, ''), flags);
  }

  get url(): string {
    return `http://${this.address}`;
  }

  get port(): number {
    return Number(this.address.split(':').at(-1));
  }

  async state(): Promise<any> {
    return await (await fetch(`${this.url}/__sim/state`)).json();
  }

  async requests(): Promise<any[]> {
    const answer: any = await (await fetch(`${this.url}/__sim/requests`)).json();
    return Array.isArray(answer) ? answer : answer.requests;
  }

  async fault(fault: Record<string, unknown>): Promise<void> {
    const response = await fetch(`${this.url}/__sim/fault`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fault) });
    if (!response.ok) throw new Error(`fault refused: ${await response.text()}`);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.child.stop(signal, 3_000);
  }
}
