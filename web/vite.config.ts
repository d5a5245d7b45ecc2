// Builds the page into the Python package, with a hash of its sources, which a test checks.
import { copyFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { hashOfSources } from './sources';

const out = resolve(import.meta.dirname, '../python/anabranch/web/static');

export default defineConfig({
  base: './',
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      // Fixed names, because the build is committed. The server forbids caching.
      output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
    },
    chunkSizeWarningLimit: 600,
  },
  plugins: [
    {
      name: 'licences-and-hash',
      apply: 'build', // vitest closes a bundle too
      closeBundle() {
        copyFileSync(resolve(import.meta.dirname, 'src/third-party.txt'), resolve(out, 'third-party.txt'));
        writeFileSync(resolve(out, 'sources'), `${hashOfSources(import.meta.dirname)}\n`);
      },
    },
  ],
  test: { include: ['tests/**/*.test.ts'] },
});
