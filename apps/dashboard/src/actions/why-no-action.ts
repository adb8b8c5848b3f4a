import { useLive } from '../live/live-store.js';

/** Why nothing can be done now; `null` = it can. A paused picture may be acted on: the generation is checked. */
export function useWhyNoAction(): string | null {
  const phase = useLive((state) => state.link.phase);
  return phase === 'stale' || phase === 'connecting' ? 'The router does not answer; this picture is old.' : null;
}
