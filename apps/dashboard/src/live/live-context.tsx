import { createContext, type JSX, type ReactNode, useContext, useEffect, useState } from 'react';

import { queryClient } from '../api/queries.js';
import { LiveSocket } from './live-socket.js';

const Pausing = createContext<(paused: boolean) => void>(() => undefined);

/** Keeps the live stream open while it is on the page. */
export function LiveProvider({ children }: { readonly children: ReactNode }): JSX.Element {
  const [setPaused, offer] = useState<(paused: boolean) => void>(() => () => undefined);
  useEffect(() => {
    const socket = new LiveSocket({
      onRefused: () => void queryClient.invalidateQueries({ queryKey: ['/api/v1/session'] }),
      onRegained: () => void queryClient.invalidateQueries(),
    });
    offer(() => (paused: boolean) => socket.setPaused(paused));
    return () => {
      socket.close();
    };
  }, []);
  return <Pausing value={setPaused}>{children}</Pausing>;
}

/** Stops and resumes the live stream. */
export const usePausing = (): ((paused: boolean) => void) => useContext(Pausing);
