import { WebSocket } from 'undici';

import { type Child } from './child.js';
import { eventually } from './eventually.js';

/** Start the process under test with this environment to be able to look into its heap. */
export const inspectable = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** Bytes in use by `child` once everything that nobody refers to is gone: a level that a leak cannot hide in. */
export async function usedHeapBytes(child: Child): Promise<number> {
  const url = await eventually('the inspector', () => /ws:\S+/.exec(child.stderr.find((line) => line.startsWith('Debugger listening on ')) ?? '')?.[0]);
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${url}`)));
  });
  let nextId = 1;
  const call = (method: string): Promise<{ usedSize?: number; backingStorageSize?: number }> =>
    new Promise((resolve) => {
      const id = nextId++;
      socket.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data)) as { id?: number; result: { usedSize?: number; backingStorageSize?: number } };
        if (message.id === id) resolve(message.result);
      });
      socket.send(JSON.stringify({ id, method }));
    });
  // The first collection runs finalizers, whose objects the second one frees.
  for (let round = 0; round < 3; round += 1) await call('HeapProfiler.collectGarbage');
  const { usedSize = NaN, backingStorageSize = 0 } = await call('Runtime.getHeapUsage');
  socket.close();
  return usedSize + backingStorageSize;
}
