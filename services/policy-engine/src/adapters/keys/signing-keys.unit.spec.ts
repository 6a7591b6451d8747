import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUTHORIZATION_AUDIENCE, AUTHORIZATION_ISSUER, type AuthorizationClaims } from '@lineclear/contracts';
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSigningKeys } from './signing-keys.js';

const claims: AuthorizationClaims = {
  iss: AUTHORIZATION_ISSUER,
  aud: AUTHORIZATION_AUDIENCE,
  jti: 'aut_1',
  sub: 'call',
  tenant: 'acme',
  round: 1,
  stage: 'first',
  digest: 'd',
  definitionHash: 'h',
  policyVersion: 1,
  iat: 1,
  exp: 61,
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('makes a key that only its owner reads, publishes its public half, and signs by it', async () => {
  const file = join(folder, 'home', 'policy-signing.jwk');
  const { sign, publicKeys } = await openSigningKeys(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(join(folder, 'home', 'policy-jwks.json'), 'utf8'))).toEqual(publicKeys);
  expect(Object.keys(publicKeys.keys[0] ?? {}).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  const jws = sign(claims);
  expect(decodeProtectedHeader(jws)).toEqual({
    alg: 'EdDSA',
    typ: 'lineclear-authorization+jwt',
    kid: publicKeys.keys[0]?.kid,
  });
  const { payload } = await compactVerify(jws, createLocalJWKSet({ keys: [...publicKeys.keys] }));
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(claims);
});

it('gives several starters one key, and keeps it over a restart', async () => {
  const file = join(folder, 'policy-signing.jwk');
  const opened = await Promise.all([1, 2, 3, 4].map(() => openSigningKeys(file)));
  const again = await openSigningKeys(file);
  expect(new Set([...opened, again].map(({ publicKeys }) => JSON.stringify(publicKeys))).size).toBe(1);
});

it('publishes further keys of the file, so that old signatures stay valid while the key changes', async () => {
  const [first, second] = [join(folder, 'a.jwk'), join(folder, 'b.jwk')];
  const old = (await openSigningKeys(first)).sign(claims);
  await openSigningKeys(second);
  const keys = await Promise.all(
    [second, first].map(async (file) => JSON.parse(await readFile(file, 'utf8')) as unknown),
  );
  const both = join(folder, 'both.jwk');
  await writeFile(both, JSON.stringify({ keys }), { mode: 0o600 });
  const { publicKeys, sign } = await openSigningKeys(both);
  const set = createLocalJWKSet({ keys: [...publicKeys.keys] });
  await expect(compactVerify(old, set)).resolves.toBeDefined();
  await expect(compactVerify(sign(claims), set)).resolves.toBeDefined();
  expect(JSON.stringify(publicKeys)).not.toContain('"d"');
});

it.each<[string, string, number, RegExp]>([
  ['a key that others can read', '{}', 0o644, /can be read by others; seen mode 644; expected mode 600/],
  ['no JSON', 'secret-text', 0o600, /is not JSON/],
  ['another kind of key', '{"kty":"RSA","n":"x"}', 0o600, /not an Ed25519 key/],
  [
    'a public key',
    '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
    0o600,
    /not a private one/,
  ],
  ['a damaged key', '{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"secret-text"}', 0o600, /cannot be used/],
])('refuses %s without showing it', async (_, text, mode, message) => {
  const file = join(folder, 'k.jwk');
  await writeFile(file, text);
  await chmod(file, mode);
  const error = await openSigningKeys(file).catch((caught: unknown) => caught);
  expect(String(error)).toMatch(message);
  expect(String(error)).not.toContain('secret-text');
});
