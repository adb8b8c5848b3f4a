import { type JSX } from 'react';

import { useAbout } from '../../api/queries.js';
import { CommandLine } from '../../parts/command-line.js';
import { EmptyState } from '../../parts/panel.js';

/** Shown while no request has come since the start. */
export function FirstRequest(): JSX.Element {
  const about = useAbout().data;
  const origin = about === undefined ? 'http://ROUTER:8000' : `http://${bracketed(about.advertiseHost)}:${about.apiPort}`;
  const command = `curl ${origin}/v1/chat/completions -H 'content-type: application/json' \\\n  -d '{"messages":[{"role":"user","content":"Hello"}],"stream":true}'`;
  return (
    <EmptyState title="No request has come yet">
      <p>Requests appear here as they arrive, and stay for a while after they ended. Send one:</p>
      <div style={{ textAlign: 'left' }}>
        <CommandLine command={command} />
      </div>
    </EmptyState>
  );
}

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
