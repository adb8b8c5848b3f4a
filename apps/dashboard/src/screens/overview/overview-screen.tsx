import { type JSX } from 'react';

import { EmptyState } from '../../parts/panel.js';

export function OverviewScreen(): JSX.Element {
  return <EmptyState title="Overview" />;
}
