import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const router = process.env['SWITCHYARD_ADMIN'] ?? 'http://127.0.0.1:9000';
/** The router takes changes and live connections only from its own origin. */
const toRouter = { target: router, changeOrigin: true, headers: { origin: router } };
const proxy = { '/api': toRouter, '/live': { ...toRouter, ws: true } };

/** Writes a gzipped copy beside each file worth it: the router sends that one without compressing anything itself. */
const precompressed: Plugin = {
  name: 'precompressed',
  apply: 'build',
  // Of what was written: until then Vite still replaces parts of the code.
  writeBundle({ dir = '.' }, bundle) {
    for (const fileName of Object.keys(bundle)) {
      const content = readFileSync(join(dir, fileName));
      if (/\.(?:css|js|svg)$/.test(fileName) && content.length > 1024) writeFileSync(join(dir, `${fileName}.gz`), gzipSync(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), precompressed],
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
