import { type JSX } from 'react';

import { EmptyState } from '../../parts/panel.js';

export function CacheScreen(): JSX.Element {
  return <EmptyState title="Cache" />;
}
