import { Loader } from '@mantine/core';
import { type ComponentType, type JSX, lazy, type LazyExoticComponent, Suspense } from 'react';
import { Route, Switch } from 'wouter';

import { useSession } from './api/queries.js';
import { LiveProvider } from './live/live-context.js';
import { EmptyState } from './parts/panel.js';
import { OverviewScreen } from './screens/overview/overview-screen.js';
import { LoginScreen } from './shell/login-screen.js';
import { Shell } from './shell/shell.js';

const screen = (load: () => Promise<ComponentType>): LazyExoticComponent<ComponentType> => lazy(async () => ({ default: await load() }));

const WorkersScreen = screen(async () => (await import('./screens/workers/workers-screen.js')).WorkersScreen);
const CacheScreen = screen(async () => (await import('./screens/cache/cache-screen.js')).CacheScreen);
const RequestsScreen = screen(async () => (await import('./screens/requests/requests-screen.js')).RequestsScreen);
const EventsScreen = screen(async () => (await import('./screens/events/events-screen.js')).EventsScreen);
const SettingsScreen = screen(async () => (await import('./screens/settings/settings-screen.js')).SettingsScreen);

/** The page: a login without a session, else the screens in their frame. */
export function App(): JSX.Element {
  const session = useSession();
  if (session.isPending) return <Waiting />;
  if (session.data === undefined) return <LoginScreen />;
  return (
    <LiveProvider>
      <Shell>
        <Suspense fallback={<Waiting />}>
          <Switch>
            <Route path="/" component={OverviewScreen} />
            <Route path="/workers" component={WorkersScreen} />
            <Route path="/cache" component={CacheScreen} />
            <Route path="/requests/:id?" component={RequestsScreen} />
            <Route path="/events" component={EventsScreen} />
            <Route path="/settings" component={SettingsScreen} />
            <Route>
              <EmptyState title="There is no such page">Use the navigation above.</EmptyState>
            </Route>
          </Switch>
        </Suspense>
      </Shell>
    </LiveProvider>
  );
}

function Waiting(): JSX.Element {
  return (
    <div role="status" style={{ display: 'grid', placeItems: 'center', minHeight: '40vh' }}>
      <Loader size="sm" aria-label="Loading" />
    </div>
  );
}
