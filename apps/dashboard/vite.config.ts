import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const router = process.env['SWITCHYARD_ADMIN'] ?? 'http://127.0.0.1:9000';
/** The router takes changes and live connections only from its own origin. */
const toRouter = { target: router, changeOrigin: true, headers: { origin: router } };
const proxy = { '/api': toRouter, '/live': { ...toRouter, ws: true } };

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: { conditions: ['@switchyard/source', 'module', 'browser', 'development|production'] },
  server: { host: '127.0.0.1', proxy },
  preview: { host: '127.0.0.1', proxy },
  build: {
    outDir: '../../dist/apps/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // The page's Content-Security-Policy knows neither inline scripts nor data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
