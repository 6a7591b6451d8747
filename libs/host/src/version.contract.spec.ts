import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PRODUCT_VERSION } from './version.js';

it('has the version of the product', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  expect(PRODUCT_VERSION).toBe((JSON.parse(text) as { version: string }).version);
});
