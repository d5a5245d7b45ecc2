// Builds the page into the Python package. The file `sources` beside it carries a hash of the sources, by which a test sees whether the build is that of the sources.
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
      // The build is committed: names that stay make changes readable. The server lets nobody keep copies.
      output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
    },
    chunkSizeWarningLimit: 600,
  },
  plugins: [
    {
      name: 'notes-beside-the-page',
      closeBundle() {
        copyFileSync(resolve(import.meta.dirname, 'src/third-party.txt'), resolve(out, 'third-party.txt'));
        writeFileSync(resolve(out, 'sources'), `${hashOfSources(import.meta.dirname)}\n`);
      },
    },
  ],
  test: { include: ['tests/**/*.test.ts'] },
});
