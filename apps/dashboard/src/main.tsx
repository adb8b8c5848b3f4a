import '@mantine/core/styles.layer.css';
import './theme.css';

import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { whenUnauthorized } from './api/client.js';
import { queryClient } from './api/queries.js';
import { loginFromAddress } from './api/session.js';
import { App } from './app.js';
import { Toasts } from './parts/toasts.js';
import { cssVariables, theme } from './theme.js';

whenUnauthorized(() => void queryClient.resetQueries({ queryKey: ['/api/v1/session'] }));

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');

await loginFromAddress();
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <App />
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
