import { type Icon, IconCircleCheck, IconCircleX, IconDoorExit, IconLoader2 } from '@tabler/icons-react';
import { type JSX } from 'react';

import { Mark } from '../../parts/mark.js';
import { type StatusTone } from '../../parts/worker-status.js';
import { type OutcomeTone, type OutcomeWords } from './receipt-words.js';

const looks: Readonly<Record<OutcomeTone, { readonly tone: StatusTone; readonly icon: Icon }>> = {
  running: { tone: 'draining', icon: IconLoader2 },
  good: { tone: 'ready', icon: IconCircleCheck },
  neutral: { tone: 'drained', icon: IconDoorExit },
  bad: { tone: 'down', icon: IconCircleX },
};

export function OutcomeMark({ outcome: { tone, word } }: { readonly outcome: OutcomeWords }): JSX.Element {
  return <Mark {...looks[tone]}>{word}</Mark>;
}
