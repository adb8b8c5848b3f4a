import { ActionIcon, useMantineColorScheme } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconSun } from '@tabler/icons-react';
import { type JSX, type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';

import { ActionDialogs } from '../actions/action-dialogs.js';
import { useMayAct } from '../api/queries.js';
import { logOut } from '../api/session.js';
import { useLive } from '../live/live-store.js';
import { BrandMark } from './brand-mark.js';
import { KeyHelp } from './key-help.js';
import { LinkState } from './link-state.js';
import styles from './shell.module.css';
import { StateChanges } from './state-changes.js';

const screens = [
  { path: '/', name: 'Overview' },
  { path: '/workers', name: 'Workers' },
  { path: '/cache', name: 'Cache' },
  { path: '/requests', name: 'Requests' },
  { path: '/events', name: 'Events' },
  { path: '/settings', name: 'Settings' },
] as const;

/** The frame of all screens: where one is, how fresh the picture is, what one may do. */
export function Shell({ children }: { readonly children: ReactNode }): JSX.Element {
  const [location] = useLocation();
  const mayAct = useMayAct();
  const phase = useLive((state) => state.link.phase);
  const [helping, setHelping] = useState(false);
  useHotkeys([['shift+?', () => setHelping(true), { usePhysicalKeys: false }], ['?', () => setHelping(true)]]);

  return (
    <div className={styles['frame']}>
      <header className={styles['header']}>
        <Link className={styles['brand'] ?? ''} href="/" aria-label="Switchyard, overview">
          <BrandMark />
          <span>Switchyard</span>
        </Link>
        <nav className={styles['nav']} aria-label="Screens">
          {screens.map(({ path, name }) => (
            <Link key={path} className={styles['link'] ?? ''} href={path} {...(isAt(location, path) ? { 'aria-current': 'page' as const } : {})}>
              {name}
            </Link>
          ))}
        </nav>
        <div className={styles['side']}>
          <LinkState />
          {!mayAct && (
            <span className={styles['read-only']} title="This session sees everything and changes nothing. Log in with the operator token to act.">
              read-only
            </span>
          )}
          <ColorSchemeButton />
          <ActionIcon aria-label="Show keys" title="Keys (?)" onClick={() => setHelping(true)}>
            <IconKeyboard size={17} />
          </ActionIcon>
          <ActionIcon aria-label="Log out" title="Log out" onClick={() => void logOut()}>
            <IconLogout size={16} />
          </ActionIcon>
        </div>
      </header>
      <main className={styles['main']} {...(phase === 'stale' ? { 'data-stale': true } : {})}>
        {children}
      </main>
      <KeyHelp opened={helping} onClose={() => setHelping(false)} />
      <ActionDialogs />
      <StateChanges />
    </div>
  );
}

const isAt = (location: string, path: string): boolean => (path === '/' ? location === '/' : location.startsWith(path));

const schemes = [
  { value: 'auto', name: 'System', Shape: IconDeviceDesktop },
  { value: 'light', name: 'Light', Shape: IconSun },
  { value: 'dark', name: 'Dark', Shape: IconMoon },
] as const;

/** System, light, dark, and round again. */
function ColorSchemeButton(): JSX.Element {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const at = schemes.findIndex(({ value }) => value === colorScheme);
  const { name, Shape } = schemes[at] ?? schemes[0];
  const next = schemes[(at + 1) % schemes.length] ?? schemes[0];
  return (
    <ActionIcon aria-label={`Theme: ${name}`} title={`Theme: ${name}. Click for ${next.name.toLowerCase()}.`} onClick={() => setColorScheme(next.value)}>
      <Shape size={16} />
    </ActionIcon>
  );
}
