import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from './codes.js';

const PINNED = `
address-in-use already-decided already-ended attempt-open bad-config broker-unavailable cancelled database-not-ours database-not-started
database-unavailable fenced folder-in-use folder-unusable forbidden internal invalid-message invalid-request invariant-violated not-found overloaded
payload-mismatch rate-limited refused timed-out too-large unauthorized unavailable unknown-type unsupported-version version-moved wrong-shard-count
`;

describe('error codes', () => {
  it('keeps every released code', () => {
    expect(Object.keys(ERROR_CODES)).toEqual(expect.arrayContaining(PINNED.trim().split(/\s+/)));
  });

  it('documents exactly the codes that exist, with their meaning', () => {
    const page = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `([a-z-]+)` \| (.+) \|$/gm)].map(([, code, meaning]) => [code, meaning]);
    expect(documented).toEqual(Object.entries(ERROR_CODES));
  });
});
