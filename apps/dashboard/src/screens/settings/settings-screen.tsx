import { type JSX } from 'react';

import { EmptyState } from '../../parts/panel.js';

export function SettingsScreen(): JSX.Element {
  return <EmptyState title="Settings" />;
}
