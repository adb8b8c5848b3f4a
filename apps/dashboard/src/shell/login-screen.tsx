import { Button, Stack, TextInput } from '@mantine/core';
import { type JSX, type SubmitEvent, useState } from 'react';

import { refusalOf } from '../api/client.js';
import { logIn } from '../api/session.js';
import { BrandMark } from './brand-mark.js';
import styles from './login-screen.module.css';

/** Asks for the operator or the viewer token. */
export function LoginScreen(): JSX.Element {
  const [token, setToken] = useState('');
  const [refusal, setRefusal] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    await logIn(token.trim()).catch((error: unknown) => {
      setRefusal(refusalOf(error));
      setBusy(false);
    });
  };

  return (
    <main className={styles['page']}>
      <form className={styles['card']} onSubmit={(event) => void submit(event)}>
        <div className={styles['brand']}>
          <BrandMark size={28} />
          <h1 className={styles['title']}>Switchyard</h1>
        </div>
        <Stack gap="sm">
          <TextInput
            type="password"
            label="Token"
            name="token"
            autoComplete="current-password"
            required
            withAsterisk={false}
            autoFocus
            value={token}
            error={refusal}
            onChange={(event) => {
              setToken(event.currentTarget.value);
            }}
          />
          <Button type="submit" size="sm" fullWidth loading={busy} disabled={token.trim() === ''}>
            Log in
          </Button>
        </Stack>
        <p className={styles['hint']}>
          The operator token is <code>--admin-token</code> of the router; without one, its log shows a link to open. A
          viewer token sees everything and changes nothing.
        </p>
      </form>
    </main>
  );
}
