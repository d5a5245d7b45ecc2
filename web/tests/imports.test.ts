import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const SOURCES = resolve(import.meta.dirname, '../src');

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^import [^;]*?from '(\.[^']*)'/gms)]
    .map(([, path = '']) => `${resolve(dirname(file), path)}.ts`)
    .filter((path) => existsSync(path));
}

it('the modules import each other without a cycle', () => {
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    expect(path, [...path, file].join(' imports ')).not.toContain(file);
    if (done.has(file)) return;
    for (const next of importsOf(file)) visit(next, [...path, file]);
    done.add(file);
  };
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.ts')) visit(join(SOURCES, name), []);
  }
  expect(done.size).toBeGreaterThan(30);
});
