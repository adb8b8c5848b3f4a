import { Button } from '@mantine/core';
import type { EventView } from '@switchyard/core/contracts';
import { type JSX } from 'react';
import { Link } from 'wouter';

import { type Listed } from '../../api/listed.js';
import { useAdmin, useSession } from '../../api/queries.js';
import { logOut } from '../../api/session.js';
import { Ago } from '../../parts/ago.js';
import { Panel } from '../../parts/panel.js';
import { eventSentence } from '../events/event-words.js';
import styles from './settings.module.css';

const may = {
  operator: 'May read everything and change everything.',
  viewer: 'May read everything and change nothing. Log in with the operator token to act.',
} as const;

/** Who is looking, and the last logins. */
export function SessionPanel(): JSX.Element {
  const role = useSession().data?.role;
  const logins = useAdmin<Listed<EventView>>('/api/v1/events?type=session&limit=5', { everyMs: 15_000 }).data?.items ?? [];
  return (
    <Panel
      title="Session"
      side={
        <Button variant="default" onClick={() => void logOut()}>
          Log out
        </Button>
      }
    >
      {role !== undefined && (
        <p className={styles['line']}>
          <strong>{role === 'operator' ? 'Operator' : 'Viewer'}.</strong> {may[role]}
        </p>
      )}
      {logins.length > 0 && (
        <>
          <h3 className={styles['small']}>Last logins</h3>
          <ul className={styles['logins']}>
            {[...logins].reverse().map((event) => (
              <li key={event.eventSeq}>
                <span>{eventSentence(event)}</span>
                <span className="sy-dim">
                  <Ago at={event.at} />
                </span>
              </li>
            ))}
          </ul>
          <Link className={styles['all'] ?? ''} href="/events?type=session">
            All of them
          </Link>
        </>
      )}
    </Panel>
  );
}
