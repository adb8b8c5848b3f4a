import { type ServerResponse } from 'node:http';
import { type AnswerHead } from '../headers/engine-answer-head.js';

/** An engine's answer that was not passed on when it came, because another worker was to be tried. */
export interface KeptAnswer {
  readonly head: AnswerHead;
  readonly body: Buffer;
  /** Less than the whole body was kept. */
  readonly truncated: boolean;
}

/** Answers a client with what an engine answered, head and body in one write. */
export function writeAnswer(res: ServerResponse, answer: KeptAnswer): void {
  const { head, body, truncated } = answer;
  res.writeHead(head.status, head.statusText, head.headers);
  if (!truncated) {
    // A latin1 string goes out with the head in one piece; a buffer takes a second write.
    res.end(body.toString('latin1'), 'latin1');
    return;
  }
  res.write(body);
  cutConnection(res);
}

/** Ends a response so that the client sees it is incomplete, after what was written has gone out. */
export function cutConnection(res: ServerResponse): void {
  const { socket } = res;
  if (socket === null) {
    // A pipelined request's response gets the connection when those before it are complete.
    res.once('socket', () => cutConnection(res));
    return;
  }
  // What the response still has corked leaves in the next tick.
  process.nextTick(() => {
    socket.destroySoon();
    const stuck = setTimeout(() => socket.destroy(), 2000);
    stuck.unref();
    socket.once('close', () => clearTimeout(stuck));
  });
}
