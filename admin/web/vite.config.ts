import { readdirSync } from 'node:fs';
import { defineConfig } from 'vite';

const jsx = { runtime: 'automatic' as const, importSource: 'preact' };

// In mode test every file of tests becomes one that node --test runs.
export default defineConfig(({ mode }) =>
  mode === 'test'
    ? {
        oxc: { jsx },
        logLevel: 'error',
        build: {
          ssr: true,
          outDir: 'node_modules/.tests',
          rollupOptions: {
            input: readdirSync('tests')
              .filter((f) => f.endsWith('.test.ts'))
              .map((f) => `tests/${f}`),
          },
        },
      }
    : {
        base: '/admin/',
        oxc: { jsx },
        // No asset is inlined: the policy of the page allows no data: scripts or fonts. The helper for module
        // preloading would add an inline script.
        build: {
          outDir: 'dist/page',
          emptyOutDir: true,
          assetsInlineLimit: 0,
          modulePreload: false,
          target: 'es2022',
        },
      },
);
