import { type JSX } from 'react';

import { EmptyState } from '../../parts/panel.js';

export function WorkersScreen(): JSX.Element {
  return <EmptyState title="Workers" />;
}
