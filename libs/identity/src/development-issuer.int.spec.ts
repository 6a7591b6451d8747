import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DevelopmentIssuer } from './development-issuer.js';
import { TokenVerifier } from './token-verifier.js';

const ann = { tenant: 'acme', subject: 'ann', roles: ['clerk'], scopes: ['runs:read'] };
let home: string;

beforeEach(async () => {
  home = join(await mkdtemp(join(tmpdir(), 'lineclear-test-')), 'home');
});

afterEach(() => rm(join(home, '..'), { recursive: true, force: true }));

const quiet = { warn: () => undefined };

function verifierOf(issuer: DevelopmentIssuer): TokenVerifier {
  return new TokenVerifier({ issuer: issuer.issuer, audience: issuer.audience, keys: { jwks: issuer.jwks() } });
}

describe('DevelopmentIssuer', () => {
  it('makes tokens that its published key verifies, also after a restart', async () => {
    const first = await DevelopmentIssuer.open(home, quiet);
    const again = await DevelopmentIssuer.open(home, { create: false });
    expect(again?.jwks()).toEqual(first.jwks());
    expect(await verifierOf(first).verify((await again?.issue(ann)) ?? '')).toEqual(ann);
  });

  it('publishes no private part', async () => {
    const [key] = (await DevelopmentIssuer.open(home, quiet)).jwks().keys;
    expect(Object.keys(key ?? {}).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });

  it('gives a token no longer life than was asked', async () => {
    const issuer = await DevelopmentIssuer.open(home, quiet);
    const token = await issuer.issue({ ...ann, lifetimeSeconds: 60 });
    const { exp, iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number;
      iat: number;
    };
    expect(exp - iat).toBe(60);
  });

  it('is not made when it is only to be opened', async () => {
    expect(await DevelopmentIssuer.open(home, { create: false })).toBeUndefined();
    await expect(readdir(home)).rejects.toThrow('ENOENT');
  });

  it('says loudly what it is', async () => {
    const lines: string[] = [];
    await DevelopmentIssuer.open(home, { warn: (line) => lines.push(line) });
    expect(lines).toEqual([expect.stringMatching(/^DEVELOPMENT ONLY: /)]);
  });

  it('has one key when several start at once, readable by its owner alone', async () => {
    const issuers = await Promise.all([1, 2, 3].map(() => DevelopmentIssuer.open(home, quiet)));
    expect(new Set(issuers.map((issuer) => issuer.jwks().keys[0]?.kid)).size).toBe(1);
    expect(await readdir(home)).toEqual(['development-issuer.json']);
    expect((await stat(join(home, 'development-issuer.json'))).mode & 0o777).toBe(0o600);
  });

  it('refuses a key that others may read, and a damaged one', async () => {
    await DevelopmentIssuer.open(home, quiet);
    const file = join(home, 'development-issuer.json');
    await chmod(file, 0o644);
    await expect(DevelopmentIssuer.open(home, quiet)).rejects.toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining('seen 0644; expected 0600'),
    });
    await chmod(file, 0o600);
    await writeFile(file, '{"version": 1}');
    await expect(DevelopmentIssuer.open(home, quiet)).rejects.toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining('key `key` is missing'),
    });
  });

  it('names a data folder that cannot be used', async () => {
    await writeFile(home, '');
    await expect(DevelopmentIssuer.open(join(home, 'x'), quiet)).rejects.toMatchObject({ code: 'folder-unusable' });
  });
});
