import { type ServerResponse } from 'node:http';
import { errorEvent, type RouterError } from '../errors/router-error.js';
import { type AnswerHead, readAnswerHead } from '../headers/engine-answer-head.js';
import { type CallFault } from '../upstream/call-fault.js';
import { type CoarseWheel, WheelEntry } from '../upstream/coarse-wheel.js';
import { type AnswerSink } from '../upstream/engine-call.js';
import { AnswerTail, type AnswerUsage } from './answer-tail.js';
import { FirstEventScanner, opensWithError } from './first-event.js';
import { cutConnection, type KeptAnswer, writeAnswer } from './kept-answer.js';

/** Why a relay was stopped from this side. */
export type Interruption = 'client_gone' | 'shutdown' | 'evicted';

export type RelayResult =
  /** The client has the whole answer. */
  | { readonly kind: 'relayed'; readonly status: number; readonly errorEvent: boolean; readonly usage: AnswerUsage | null; readonly chunks: number }
  /** A failure that may be tried elsewhere. The client has nothing. */
  | { readonly kind: 'kept'; readonly answer: KeptAnswer; readonly errorEvent: boolean }
  /** The call failed. The client has nothing. */
  | { readonly kind: 'fault'; readonly fault: CallFault }
  /** The call failed after its answer had begun; the client has been told. */
  | { readonly kind: 'cut'; readonly status: number; readonly fault: CallFault }
  /** `begun`: the answer had begun, and a client that is still there has been told. */
  | { readonly kind: 'interrupted'; readonly by: Interruption; readonly begun: boolean; readonly status: number | null };

export interface RelayRules {
  readonly requestId: string;
  /** Added to the answer's head. */
  readonly routeHeaders: readonly string[];
  readonly holdHeadMs: number | null;
  /** Whether an answer of this status, or one whose first event is an error, is kept back instead of relayed. */
  readonly keepBack: (status: number, errorEvent: boolean) => boolean;
  /** The first byte of an answer that is being relayed has come. `errorEvent`: it is a failure all the same. */
  readonly firstByte: (status: number, errorEvent: boolean) => void;
  /** What the client is told when its stream breaks. */
  readonly describe: (fault: CallFault | Interruption) => RouterError;
}

/** The call a relay is fed by. */
export interface RelayedCall {
  abort(): void;
  resume(): void;
}

const singleWriteBytes = 65_536;
const firstEventBytes = 65_536;
const keptBytes = 65_536;
const keptMs = 1000;

type State = 'waiting' | 'held' | 'gathering' | 'passing' | 'keeping' | 'over';

/**
 * Passes one engine answer to the client, byte for byte and no faster than the client reads.
 *
 * Nothing reaches the client before the first body byte (of an event stream: before its first event is complete), so
 * that until then another worker can take over. A small answer of known length is gathered and leaves in one write.
 */
export class AnswerRelay extends WheelEntry implements AnswerSink {
  readonly result: Promise<RelayResult>;
  readonly #res: ServerResponse;
  readonly #rules: RelayRules;
  readonly #wheel: CoarseWheel;
  readonly #scanner = new FirstEventScanner();
  #settle: (result: RelayResult) => void = () => undefined;
  #call: RelayedCall | null = null;
  #state: State = 'waiting';
  #head: AnswerHead | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #errorEvent = false;
  #headSent = false;
  readonly #tail = new AnswerTail();
  #drains = false;
  #chunksPassed = 0;

  constructor(res: ServerResponse, wheel: CoarseWheel, rules: RelayRules) {
    super();
    this.#res = res;
    this.#wheel = wheel;
    this.#rules = rules;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Whether the client may have bytes of this answer. */
  get begun(): boolean {
    return this.#headSent || this.#state === 'gathering';
  }

  feed(call: RelayedCall): void {
    this.#call = call;
  }

  interrupt(by: Interruption): void {
    if (this.#state === 'over') return;
    const { begun } = this;
    this.#call?.abort();
    if (begun && by !== 'client_gone') this.#breakOff(by);
    this.#finish({ kind: 'interrupted', by, begun, status: begun ? (this.#head?.status ?? null) : null });
  }

  head(status: number, statusText: string, rawHeaders: readonly Buffer[]): void {
    const head = readAnswerHead(status, statusText, rawHeaders, this.#rules.requestId);
    this.#head = head;
    if (this.#rules.keepBack(status, false)) {
      this.#keep();
      return;
    }
    this.#state = 'held';
    if (this.#rules.holdHeadMs !== null) this.#startTimer(this.#rules.holdHeadMs);
  }

  chunk(bytes: Buffer): boolean {
    switch (this.#state) {
      case 'held':
        return this.#firstBytes(bytes);
      case 'gathering':
        this.#gather(bytes);
        return true;
      case 'passing':
        return this.#pass(bytes);
      case 'keeping':
        this.#gather(bytes);
        if (this.#bytes > keptBytes) this.#endKeeping(true);
        return true;
      case 'waiting':
      case 'over':
        return true;
    }
  }

  end(): void {
    const head = this.#head;
    if (head === null || this.#state === 'over') return;
    if (this.#state === 'keeping') {
      this.#endKeeping(false);
      return;
    }
    if (this.#state === 'held') this.#rules.firstByte(head.status, false);
    if (this.#headSent) {
      for (const bytes of this.#chunks) this.#res.write(bytes);
      this.#res.end();
    } else {
      writeAnswer(this.#res, { head: this.#withRoute(head), body: this.#joined(), truncated: false });
      this.#headSent = true;
    }
    for (const bytes of this.#chunks) this.#tail.note(bytes);
    this.#finish({ kind: 'relayed', status: head.status, errorEvent: this.#errorEvent, usage: this.#tail.usage(), chunks: this.#chunksPassed });
  }

  fault(fault: CallFault): void {
    if (this.#state === 'over') return;
    if (this.#state === 'keeping') {
      this.#endKeeping(true);
    } else if (this.begun) {
      this.#breakOff(fault);
      this.#finish({ kind: 'cut', status: this.#head?.status ?? 0, fault });
    } else {
      this.#finish({ kind: 'fault', fault });
    }
  }

  /** Time is up: for keeping a failed answer, or for holding a head back. */
  onDeadline(): void {
    if (this.#state === 'keeping') this.#endKeeping(true);
    else if (this.#state === 'held') this.#sendHead();
  }

  #firstBytes(bytes: Buffer): boolean {
    const head = this.#head;
    if (head === null) return true;
    if (head.eventStream) {
      this.#gather(bytes);
      if (!this.#scanner.completes(bytes) && this.#bytes < firstEventBytes) return true;
      this.#errorEvent = opensWithError(this.#joined().toString('latin1'));
      if (this.#errorEvent && !this.#headSent && this.#rules.keepBack(head.status, true)) {
        this.#keep();
        return true;
      }
      return this.#beginPassing(head.status);
    }
    this.#gather(bytes);
    if (!this.#headSent && head.contentLength !== null && head.contentLength <= singleWriteBytes) {
      this.#state = 'gathering';
      this.#stopTimer();
      this.#rules.firstByte(head.status, false);
      return true;
    }
    return this.#beginPassing(head.status);
  }

  #beginPassing(status: number): boolean {
    this.#state = 'passing';
    this.#stopTimer();
    this.#rules.firstByte(status, this.#errorEvent);
    this.#sendHead();
    const held = this.#chunks;
    this.#chunks = [];
    let room = true;
    for (const bytes of held) room = this.#pass(bytes);
    return room;
  }

  #pass(bytes: Buffer): boolean {
    this.#chunksPassed += 1;
    this.#tail.note(bytes);
    if (this.#res.write(bytes)) return true;
    if (!this.#drains) {
      this.#drains = true;
      this.#res.on('drain', () => this.#call?.resume());
    }
    return false;
  }

  #gather(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
  }

  #joined(): Buffer {
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
  }

  #keep(): void {
    this.#state = 'keeping';
    this.#startTimer(keptMs);
  }

  #endKeeping(truncated: boolean): void {
    const head = this.#head;
    if (head === null) return;
    this.#call?.abort();
    this.#finish({ kind: 'kept', answer: { head, body: this.#joined(), truncated }, errorEvent: this.#errorEvent });
  }

  #sendHead(): void {
    const head = this.#head;
    if (head === null || this.#headSent) return;
    this.#headSent = true;
    const { status, statusText, headers } = this.#withRoute(head);
    this.#res.writeHead(status, statusText, headers);
    if (this.#state === 'held') this.#res.flushHeaders();
  }

  /** Tells the client that the answer ends early, and sees to it that it cannot be taken for complete. */
  #breakOff(why: CallFault | Interruption): void {
    const stream = this.#head?.eventStream === true;
    this.#sendHead();
    for (const bytes of this.#chunks) this.#pass(bytes);
    if (stream) {
      this.#res.write(`${this.#tail.betweenEvents ? '' : '\n\n'}${errorEvent(this.#rules.describe(why))}`);
    }
    cutConnection(this.#res);
  }

  #withRoute(head: AnswerHead): AnswerHead {
    if (this.#rules.routeHeaders.length > 0) head.headers.push(...this.#rules.routeHeaders);
    return head;
  }

  #finish(result: RelayResult): void {
    this.#state = 'over';
    this.#stopTimer();
    this.#settle(result);
  }

  #startTimer(delayMs: number): void {
    this.deadlineMs = this.#wheel.coarseNowMs + delayMs;
    this.#wheel.start(this);
  }

  #stopTimer(): void {
    this.#wheel.stop(this);
  }
}
