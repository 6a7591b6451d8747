import { createHmac } from 'node:crypto';
import { ConfigError, toFailure, UnauthorizedError } from '@lineclear/errors';
import { CompactSign, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TokenVerifier, type TokenVerifierOptions } from './token-verifier.js';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'lineclear';
const now = Math.floor(Date.now() / 1_000);
const rsa = await generateKeyPair('RS256', { extractable: true });
const ed = await generateKeyPair('EdDSA', { extractable: true });
const stranger = await generateKeyPair('EdDSA', { extractable: true });
const publicKeys: JWK[] = [
  { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' },
  { ...(await exportJWK(ed.publicKey)), kid: 'ed', alg: 'EdDSA' },
];
const options: TokenVerifierOptions = { issuer: ISSUER, audience: AUDIENCE, keys: { jwks: { keys: publicKeys } } };
const verifier = new TokenVerifier(options);

type Claims = Record<string, unknown>;
const good: Claims = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'ann',
  tenant: 'acme',
  roles: ['clerk'],
  scope: 'runs:read runs:write',
  exp: now + 600,
  iat: now,
};

function without(key: string): Claims {
  return Object.fromEntries(Object.entries(good).filter(([name]) => name !== key));
}

function sign(claims: Claims, header: Partial<JWTHeaderParameters> = {}, key = ed.privateKey): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid: 'ed', ...header }).sign(key);
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Header and payload as given, with any third part: what a forger would send. */
function forge(header: unknown, claims: unknown, signature = ''): string {
  return `${encode(header)}.${encode(claims)}.${signature}`;
}

function hmacWithPublicKey(): string {
  const body = `${encode({ alg: 'HS256', kid: 'rsa' })}.${encode(good)}`;
  return `${body}.${createHmac('sha256', JSON.stringify(publicKeys[0])).update(body).digest('base64url')}`;
}

/** A correctly signed token whose claims no honest library would write. */
function signRaw(claims: Claims): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid: 'ed' })
    .sign(ed.privateKey);
}

function signCritical(): Promise<string> {
  const header = { alg: 'EdDSA', kid: 'ed', crit: ['x-lineclear'], 'x-lineclear': true };
  return new SignJWT(good).setProtectedHeader(header).sign(ed.privateKey, { crit: { 'x-lineclear': true } });
}

async function tampered(): Promise<string> {
  const [header, , signature] = (await sign(good)).split('.');
  return `${header}.${encode({ ...good, roles: ['admin'] })}.${signature}`;
}

const strangerJwk = await exportJWK(stranger.publicKey);
const bad: readonly (readonly [string, string | Promise<string>])[] = [
  ['nothing', ''],
  ['no token', 'hello'],
  ['two parts', 'a.b'],
  ['a token that is too long', `${'a'.repeat(20_000)}.b.c`],
  ['a header that is no JSON', 'bm90anNvbg.e30.c2ln'],
  ['alg none', forge({ alg: 'none' }, good)],
  ['alg None with a signature', forge({ alg: 'None', kid: 'ed' }, good, 'c2ln')],
  ['an HMAC made with the public key', hmacWithPublicKey()],
  ['a changed payload', tampered()],
  ['another key under our kid', sign(good, {}, stranger.privateKey)],
  ['another key under its own kid', sign(good, { kid: 'stranger' }, stranger.privateKey)],
  ['a key that it brings itself', sign(good, { kid: 'ed', jwk: strangerJwk }, stranger.privateKey)],
  ['a kid that is a path', sign(good, { kid: '../../etc/passwd' })],
  [
    'a key address that it brings itself',
    sign(good, { kid: 'stranger', jku: 'https://evil.example/jwks.json' }, stranger.privateKey),
  ],
  ['a critical extension that is not known', signCritical()],
  ['another type of token', sign(good, { typ: 'lineclear-authorization+jwt' })],
  ['another issuer', sign({ ...good, iss: 'https://other.example' })],
  ['no issuer', sign(without('iss'))],
  ['another audience', sign({ ...good, aud: 'billing' })],
  ['audiences without ours', sign({ ...good, aud: ['billing', 'mail'] })],
  ['no audience', sign(without('aud'))],
  ['no expiry', sign(without('exp'))],
  ['expiry 0', sign({ ...good, exp: 0 })],
  ['a negative expiry', sign({ ...good, exp: -1 })],
  ['an expiry that passed', sign({ ...good, exp: now - 60 })],
  ['an expiry in milliseconds', sign({ ...good, exp: Date.now() + 600_000 })],
  ['an expiry with a fraction', sign({ ...good, exp: now + 600.5 })],
  ['an expiry as text', signRaw({ ...good, exp: String(now + 600) })],
  ['an expiry of null', signRaw({ ...good, exp: null })],
  ['a start in the future', sign({ ...good, nbf: now + 600 })],
  ['no subject', sign(without('sub'))],
  ['an empty subject', sign({ ...good, sub: '' })],
  ['a subject that is a number', signRaw({ ...good, sub: 7 })],
  ['no tenant', sign(without('tenant'))],
  ['a tenant with a control character', sign({ ...good, tenant: 'ac\u0000me' })],
  ['roles as text', sign({ ...good, roles: 'admin' })],
  ['a role that is an object', sign({ ...good, roles: [{ name: 'admin' }] })],
  ['a scope that is a list', sign({ ...good, scope: ['a'] })],
];

afterEach(() => {
  vi.useRealTimers();
});

describe('TokenVerifier', () => {
  it('refuses a token after its end that it has accepted a moment before', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const token = await sign({ ...good, exp: now + 10 });
    expect(await verifier.verify(token)).toMatchObject({ subject: 'ann' });
    vi.setSystemTime((now + 16) * 1_000);
    await expect(verifier.verify(token)).rejects.toBeInstanceOf(UnauthorizedError);
  });

  it('makes a principal of a good token', async () => {
    const principal = { tenant: 'acme', subject: 'ann', roles: ['clerk'], scopes: ['runs:read', 'runs:write'] };
    expect(await verifier.verify(await sign(good))).toEqual(principal);
    expect(await verifier.verify(await sign({ ...good, aud: ['mail', AUDIENCE] }, { typ: 'at+jwt' }))).toEqual(
      principal,
    );
    expect(await verifier.verify(await sign(good, { alg: 'RS256', kid: 'rsa' }, rsa.privateKey))).toEqual(principal);
  });

  it('lets roles and scopes be missing, which gives none', async () => {
    expect(await verifier.verify(await sign({ ...without('roles'), scope: '' }))).toMatchObject({
      roles: [],
      scopes: [],
    });
  });

  it('allows clocks to differ by some seconds', async () => {
    expect(await verifier.verify(await sign({ ...good, exp: now - 2 }))).toMatchObject({ subject: 'ann' });
  });

  it('reads tenant and roles from the claims that the issuer uses', async () => {
    const other = new TokenVerifier({ ...options, claimNames: { tenant: 'org', roles: 'groups' } });
    expect(await other.verify(await sign({ ...good, org: 'globex', groups: ['boss'] }))).toMatchObject({
      tenant: 'globex',
      roles: ['boss'],
    });
  });

  it.each(bad)('refuses %s', async (_, token) => {
    const error = await verifier.verify(await token).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnauthorizedError);
  });

  it('says the same whatever is wrong', async () => {
    const failures = await Promise.all(
      bad.map(async ([, token]) =>
        verifier.verify(await token).catch((error: unknown) => JSON.stringify(toFailure(error))),
      ),
    );
    expect(bad.length).toBeGreaterThanOrEqual(30);
    expect(new Set(failures).size).toBe(1);
  });

  it.each([['none'], ['HS256']])('cannot be told to accept %s', (name) => {
    expect(() => new TokenVerifier({ ...options, algorithms: ['EdDSA', name] })).toThrow(ConfigError);
  });

  it('refuses to work without issuer or audience', () => {
    expect(() => new TokenVerifier({ ...options, issuer: '' })).toThrow(ConfigError);
    expect(() => new TokenVerifier({ ...options, audience: '' })).toThrow(ConfigError);
  });

  it('accepts only the algorithms it was given', async () => {
    const strict = new TokenVerifier({ ...options, algorithms: ['ES256'] });
    await expect(strict.verify(await sign(good))).rejects.toBeInstanceOf(UnauthorizedError);
  });
});
