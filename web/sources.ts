// The hash of everything that the page is built from: `src`, `index.html`, the locked packages, this build.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function hashOfSources(folder: string): string {
  const files = readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    );
  files.push('index.html', 'package-lock.json', 'vite.config.ts');
  const hash = createHash('sha256');
  for (const name of files.sort()) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(folder, name)))
      .update('\0');
  }
  return hash.digest('hex');
}
