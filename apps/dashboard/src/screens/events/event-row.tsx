import type { EventView } from '@switchyard/core/contracts';
import {
  type Icon,
  IconAdjustments,
  IconBan,
  IconBolt,
  IconCircleCheck,
  IconCircleMinus,
  IconCirclePlus,
  IconClockExclamation,
  IconHeartbeat,
  IconLogin,
  IconPlayerPlay,
  IconPlugX,
  IconProgressDown,
  IconReplace,
  IconShieldLock,
  IconUserCheck,
} from '@tabler/icons-react';
import { type JSX, useState } from 'react';

import { Ago } from '../../parts/ago.js';
import { clock, shortEndpoint } from '../../parts/format.js';
import { Mark, Tag } from '../../parts/mark.js';
import { type StatusTone } from '../../parts/worker-status.js';
import { eventKind, eventSentence, type EventTone } from './event-words.js';
import styles from './events.module.css';

const tones: Readonly<Record<EventTone, StatusTone>> = { good: 'ready', info: 'draining', warn: 'late', bad: 'down', neutral: 'drained' };

const icons: Readonly<Record<EventView['type'], Icon>> = {
  registered: IconCirclePlus,
  replaced: IconReplace,
  expired: IconPlugX,
  departed: IconCircleMinus,
  late: IconClockExclamation,
  health: IconHeartbeat,
  circuit: IconBolt,
  drain: IconProgressDown,
  drained: IconCircleCheck,
  undrain: IconPlayerPlay,
  evict: IconBan,
  readmit: IconUserCheck,
  added: IconCirclePlus,
  removed: IconCircleMinus,
  overdue: IconClockExclamation,
  config: IconAdjustments,
  session: IconLogin,
  takeover: IconReplace,
  rejected: IconShieldLock,
};

/** When, what, who and why; the button shows what else the event says. */
export function EventRow({ event }: { readonly event: EventView }): JSX.Element {
  const [open, setOpen] = useState(false);
  const { eventSeq, at, type, actor, reason, endpoint } = event;
  const { tone, word } = eventKind(event);
  const sentence = eventSentence(event);
  return (
    <div className={styles['row']}>
      <span className={styles['when']}>
        <span className={styles['clock']}>{clockOrDay(at)}</span>
        <Ago at={at} />
      </span>
      <span className={styles['type']}>
        <Mark tone={tones[tone]} icon={icons[type]}>
          {word}
        </Mark>
      </span>
      <div className={styles['what']}>
        <button type="button" className={styles['sentence']} aria-expanded={open} onClick={() => setOpen(!open)}>
          {sentence}
        </button>
        {reason !== undefined && reason !== type && !sentence.includes(reason) && <span className={styles['reason']}>“{reason}”</span>}
        {open && <Details event={event} />}
      </div>
      <span className={styles['where']}>
        {actor !== undefined && (
          <Tag strong title="Who did it">
            {actor}
          </Tag>
        )}
        {endpoint !== undefined && (
          <span className={styles['endpoint']} title={`${endpoint}, event ${eventSeq}`}>
            {shortEndpoint(endpoint)}
          </span>
        )}
      </span>
    </div>
  );
}

/** `14:02:11` of today, else `24 Nov 14:02`. */
function clockOrDay(at: string): string {
  const date = new Date(at);
  if (date.toDateString() === new Date().toDateString()) return clock(at);
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clock(at).slice(0, 5)}`;
}

type Facts = Readonly<Record<string, string | number | boolean | null | undefined>>;

function Details({ event: { eventSeq, at, role, worker, endpoint, detail } }: { readonly event: EventView }): JSX.Element {
  const all: Facts = { event: eventSeq, at, role, worker, endpoint, ...detail };
  const facts = Object.entries(all).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return (
    <dl className={styles['details']}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{String(typeof value === 'number' ? Number(value.toFixed(3)) : value)}</dd>
        </div>
      ))}
    </dl>
  );
}
