import type { SettingView } from '@switchyard/core/contracts';
import { type JSX } from 'react';
import { Link } from 'wouter';

import { type Listed } from '../../api/listed.js';
import { useAdmin } from '../../api/queries.js';
import { EmptyState } from '../../parts/panel.js';

/** Says why there is no index: no policy keeps one, or nothing was placed yet. */
export function NoIndex(): JSX.Element {
  const settings = useAdmin<Listed<SettingView>>('/api/v1/config').data?.items;
  const policies = settings?.filter(({ name }) => name === 'policy' || name.endsWith('-policy'));
  const keeps = policies?.some(({ shown }) => shown === 'cache_aware') ?? true;
  return keeps ? (
    <EmptyState title="No prompt has been placed yet">An index begins with the first worker that names its models, or with the first request.</EmptyState>
  ) : (
    <EmptyState title="No policy keeps a prefix index">
      Only <code>cache_aware</code> does. Choose it for a role under <Link href="/settings">Settings</Link>, or start with <code>--policy cache_aware</code>.
    </EmptyState>
  );
}
