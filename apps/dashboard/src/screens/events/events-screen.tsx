import { type JSX } from 'react';

import { EmptyState } from '../../parts/panel.js';

export function EventsScreen(): JSX.Element {
  return <EmptyState title="Events" />;
}
