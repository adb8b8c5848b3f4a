import { eventually } from './eventually.js';

/** The parts of a worker that tests look at; the full shape is the contract's. */
export interface WorkerJson {
  readonly id: string;
  readonly role: 'prefill' | 'decode' | 'regular';
  readonly endpoint: string;
  readonly zmqAddress: string | null;
  readonly generation: number;
  readonly sources: readonly string[];
  readonly group: string;
  readonly adminState: string;
  readonly health: string;
  readonly heartbeat: string;
  readonly circuit: string;
  readonly selectable: boolean;
  readonly unselectableBecause: readonly string[];
  readonly load: number;
  readonly holds: { readonly kvOut: number; readonly bound: number };
  readonly departedWork: { readonly leases: number; readonly holds: number };
  readonly safeToStop: boolean;
  readonly pressure: number;
  readonly processed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly cache: { readonly coveredBytes: number; readonly share: number };
  readonly [key: string]: unknown;
}

/** The admin API as a script would use it. */
export class AdminClient {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  async call(method: string, path: string, body?: unknown): Promise<{ status: number; json: any; headers: Headers }> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? null : JSON.parse(text), headers: response.headers };
  }

  async get(path: string): Promise<any> {
    const { status, json } = await this.call('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${String(status)} ${JSON.stringify(json)}`);
    return json;
  }

  async workers(): Promise<WorkerJson[]> {
    return (await this.get('/api/v1/workers')).workers;
  }

  /** The worker of a role at an endpoint (given with or without scheme). */
  async worker(role: string, endpoint: string): Promise<WorkerJson | undefined> {
    const wanted = endpoint.startsWith('http') ? endpoint : `http://${endpoint}`;
    return (await this.workers()).find((worker) => worker.role === role && worker.endpoint === wanted);
  }

  /** Waits until that many workers of each role are selectable. */
  async selectable(counts: { readonly prefill?: number; readonly decode?: number; readonly regular?: number }): Promise<WorkerJson[]> {
    return await eventually(`selectable ${JSON.stringify(counts)}`, async () => {
      const workers = await this.workers();
      for (const [role, count] of Object.entries(counts)) {
        const got = workers.filter((worker) => worker.role === role && worker.selectable).length;
        if (got !== count) throw new Error(`${role}: ${String(got)} of ${String(count)} selectable, ${JSON.stringify(workers.map(({ id, unselectableBecause }) => [id, unselectableBecause]))}`);
      }
      return workers;
    });
  }

  /** Waits until nothing at all is held anywhere. */
  async quiet(timeoutMs = 5_000): Promise<WorkerJson[]> {
    return await eventually(
      'all loads and holds are 0',
      async () => {
        const workers = await this.workers();
        const departed = (await this.get('/api/v1/departed')).items as unknown[];
        const busy = workers.filter(({ load, holds, pressure }) => load + holds.kvOut + holds.bound + pressure > 0);
        if (busy.length + departed.length > 0) throw new Error(JSON.stringify(busy.map(({ id, load, holds }) => [id, load, holds])));
        return workers;
      },
      timeoutMs,
    );
  }

  /** The receipt of the request shown under `requestId`. */
  async receipt(requestId: string): Promise<any> {
    return await this.get(`/api/v1/requests/${encodeURIComponent(requestId)}`);
  }
}
