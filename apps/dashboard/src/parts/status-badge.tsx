import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheck,
  IconCircleX,
  IconPlayerPauseFilled,
  IconProgressDown,
  type Icon,
} from '@tabler/icons-react';
import { type JSX } from 'react';

import styles from './status-badge.module.css';
import { type StatusTone, type WorkerStatus } from './worker-status.js';

const icons: Readonly<Record<StatusTone, Icon>> = {
  ready: IconCircleCheck,
  draining: IconProgressDown,
  drained: IconPlayerPauseFilled,
  late: IconAlertTriangle,
  down: IconCircleX,
  evicted: IconBan,
};

export interface ToneProps {
  readonly tone: StatusTone;
  readonly size?: number;
}

/** The icon of a status; the word beside it says the same to those who do not see it. */
export function ToneIcon({ tone, size = 14 }: ToneProps): JSX.Element {
  const Shape = icons[tone];
  return <Shape size={size} stroke={2} aria-hidden />;
}

/** Icon, word and colour of a worker's one derived status. */
export function StatusBadge({ status, label }: { readonly status: WorkerStatus; readonly label?: string }): JSX.Element {
  return (
    <span className={styles['badge']} data-tone={status.tone} title={status.meaning}>
      <ToneIcon tone={status.tone} />
      {label ?? status.word}
    </span>
  );
}
