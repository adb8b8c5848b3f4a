import { connect, type Socket } from 'node:net';

import { type EngineProcess } from './engine-process.js';
import { pause } from './eventually.js';
import { splitAddress } from './exchange.js';

/**
 * How long a connection may take before the accept queue counts as full. The kernel answers in microseconds, but this
 * process may be kept from noticing; a dropped SYN is repeated after a second.
 */
const stuckMs = 600;

/**
 * Stops an engine's process and fills its accept queue, so that whoever connects to it now is left waiting before a
 * byte is written. `thaw` lets the engine go on; the kernel then repeats the waiting ones' SYN within a second or two.
 */
export async function freeze(engine: EngineProcess): Promise<() => void> {
  engine.child.signal('SIGSTOP');
  const fillers: Socket[] = [];
  let thawed = false;
  const thaw = (): void => {
    if (thawed) return;
    thawed = true;
    for (const socket of fillers) socket.destroy();
    engine.child.signal('SIGCONT');
  };
  for (;;) {
    const batch = Array.from({ length: 64 }, () => filler(engine.address));
    fillers.push(...batch.map(({ socket }) => socket));
    const all = Promise.all(batch.map(({ connected }) => connected));
    if ((await Promise.race([all.then(() => 'room'), pause(stuckMs).then(() => 'full')])) === 'full') return thaw;
    if (fillers.length > 10_000) {
      thaw();
      throw new Error(`the accept queue of ${engine.address} does not fill`);
    }
  }
}

function filler(address: string): { readonly socket: Socket; readonly connected: Promise<void> } {
  const [host, port] = splitAddress(address);
  const socket = connect({ host, port });
  socket.on('error', () => undefined);
  return { socket, connected: new Promise((resolve) => socket.once('connect', () => resolve())) };
}
