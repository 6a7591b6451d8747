import { globSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { REQUIREMENTS } from '../requirements.js';
import { ROOT } from '../src/root.js';

const TITLE = /\b(?:it|describe|test)(?:\.each\([\s\S]*?\))?\(\s*(['"`])([\s\S]*?)\1/g;

function titles(): string[] {
  const files = ['libs', 'services', 'examples', 'e2e'].flatMap((folder) =>
    globSync(`${folder}/**/*.{spec,testsuite}.ts`, {
      cwd: ROOT,
      exclude: (path) => /node_modules|dist/.test(String(path)),
    }),
  );
  return files.flatMap((file) =>
    [...readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(TITLE)].map((match) => match[2] ?? ''),
  );
}

describe('requirements', () => {
  const all = titles();

  it.each(Object.entries(REQUIREMENTS))('%s is cited by a test: %s', (id) => {
    expect(all.filter((title) => new RegExp(`\\b${id}\\b`).test(title))).not.toEqual([]);
  });
});
