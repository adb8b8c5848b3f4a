import { type JSX } from 'react';

import { EmptyState } from '../../parts/panel.js';

export function RequestsScreen(): JSX.Element {
  return <EmptyState title="Requests" />;
}
