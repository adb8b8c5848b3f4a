import { type JSX, useEffect, useState } from 'react';

import { useLive } from '../live/live-store.js';
import { statusOf } from '../parts/worker-status.js';

/** Tells screen readers of workers whose status changed, and of nothing else. */
export function StateChanges(): JSX.Element {
  const [said, say] = useState('');
  useEffect(
    () =>
      useLive.subscribe((now, before) => {
        if (now.picture === before.picture || now.picture === null || before.picture === null) return;
        const changes: string[] = [];
        for (const [id, worker] of now.picture.workers) {
          const earlier = before.picture.workers.get(id);
          if (earlier === worker) continue;
          const word = statusOf(worker).word;
          if (earlier === undefined) changes.push(`${id} joined`);
          else if (statusOf(earlier).word !== word) changes.push(`${id}: ${word}`);
        }
        for (const id of before.picture.workers.keys()) if (!now.picture.workers.has(id)) changes.push(`${id} left`);
        if (changes.length > 0) say(changes.length > 4 ? `${changes.length} workers changed` : changes.join(', '));
      }),
    [],
  );
  return (
    <div className="sy-hidden" aria-live="polite" role="status">
      {said}
    </div>
  );
}
