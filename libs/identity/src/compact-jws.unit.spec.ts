import { generateKeyPairSync, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { CompactSign, compactVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { isSignedBy, readJws, type ReadJws, signJws } from './compact-jws.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const CLAIMS = '{"sub":"call-1","aud":"ö"}';
const good = signJws({ kid: 'k1', typ: 't' }, CLAIMS, privateKey);
const [head = '', body = '', tail = ''] = good.split('.');
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What we make of it: undefined unless it is whole and signed by `publicKey`. */
function verified(jws: string): ReadJws | undefined {
  const read = readJws(jws);
  return read !== undefined && isSignedBy(read, publicKey) ? read : undefined;
}

/** A right signature over any two parts, for what only the reader can refuse. */
function signedOver(header: string, payload: string, key = privateKey): string {
  return `${header}.${payload}.${sign(null, Buffer.from(`${header}.${payload}`), key).toString('base64url')}`;
}

describe('compact JWS', () => {
  it('verify under jose, with the header and payload that were given', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string({ unit: 'binary' }), async (kid, payload) => {
        const seen = await compactVerify(signJws({ kid, typ: 't' }, payload, privateKey), publicKey);
        expect(seen.protectedHeader).toEqual({ alg: 'EdDSA', kid, typ: 't' });
        expect(Buffer.from(seen.payload).toString('utf8')).toBe(payload);
      }),
    );
  });

  it('of jose verify here, with the header and payload that were given', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string({ unit: 'binary' }), async (kid, payload) => {
        const header = { alg: 'EdDSA', kid, typ: 't' };
        const jws = await new CompactSign(Buffer.from(payload)).setProtectedHeader(header).sign(privateKey);
        expect(verified(jws)).toMatchObject({ header: { kid, typ: 't' }, payload });
      }),
    );
  });

  it('verify no longer after any bit of any part is flipped', () => {
    for (const [at, bytes] of [head, body, tail].map((each) => Buffer.from(each, 'base64url')).entries())
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(verified([head, body, tail].with(at, flipped.toString('base64url')).join('.'))).toBeUndefined();
      }
  });

  it('have one spelling: no change of characters verifies', () => {
    const change = fc.tuple(
      fc.nat(good.length),
      fc.constantFrom(0, 1, 2),
      fc.string({
        minLength: 0,
        maxLength: 2,
        unit: fc.constantFrom('A', 'a', 'B', 'z', '0', '9', '-', '_', '+', '/', '=', '.', ' ', '\n', '%', 'é'),
      }),
    );
    fc.assert(
      fc.property(change, ([at, removed, put]) => {
        const changed = good.slice(0, at) + put + good.slice(at + removed);
        expect(verified(changed) === undefined || changed === good).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[string, Record<string, unknown> | null | unknown[]]>([
    ['no algorithm', { kid: 'k1' }],
    ['algorithm none', { alg: 'none', kid: 'k1' }],
    ['another name of the algorithm', { alg: 'Ed25519', kid: 'k1' }],
    ['a list of algorithms', { alg: ['EdDSA'], kid: 'k1' }],
    ['no key id', { alg: 'EdDSA' }],
    ['a key id that is no text', { alg: 'EdDSA', kid: 1 }],
    ['a critical extension', { alg: 'EdDSA', kid: 'k1', crit: ['exp'], exp: 1 }],
    ['an empty list of extensions', { alg: 'EdDSA', kid: 'k1', crit: [] }],
    ['b64 of the right sort', { alg: 'EdDSA', kid: 'k1', crit: ['b64'], b64: true }],
    ['an unencoded payload', { alg: 'EdDSA', kid: 'k1', crit: ['b64'], b64: false }],
    ['b64 alone', { alg: 'EdDSA', kid: 'k1', b64: true }],
    ['null', null],
    ['a list', []],
  ])('are not read with a header of %s, although the signature is right', (_, header) => {
    expect(readJws(signedOver(part(header), body))).toBeUndefined();
  });

  it.each<[string, string]>([
    ['a header that is no JSON', signedOver('e30x', body)],
    [
      'a header that is no UTF-8',
      signedOver(Buffer.from('{"alg":"EdDSA","kid":"\xff"}', 'latin1').toString('base64url'), body),
    ],
    ['a payload that is no UTF-8', signedOver(head, Buffer.from([0xff]).toString('base64url'))],
    ['a padded payload', signedOver(head, Buffer.from('1').toString('base64'))],
    ['a payload with idle bits', signedOver(head, 'MR')],
    ['a payload with a blank', signedOver(head, `${body} `)],
    ['a payload in the other alphabet', signedOver(head, '+/+/')],
    ['a padded signature', `${good}==`],
    ['an extra part', `${good}.`],
    ['two parts', `${head}.${body}`],
    ['nothing', ''],
    ['dots', '.'.repeat(100_000)],
  ])('are not read from %s', (_, jws) => {
    expect(readJws(jws)).toBeUndefined();
  });

  it('verify under no other key, and under no key of another sort', async () => {
    const secret = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
    const keyed = new CompactSign(Buffer.from(CLAIMS)).setProtectedHeader({ alg: 'HS256', kid: 'k1' });
    expect(readJws(await keyed.sign(secret))).toBeUndefined();
    expect(readJws(good)).toSatisfy((read: ReadJws) => !isSignedBy(read, generateKeyPairSync('ed25519').publicKey));
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const bySort = readJws(signedOver(head, body, ec.privateKey));
    expect(bySort).toSatisfy((read: ReadJws) => verify(null, read.signed, ec.publicKey, read.signature));
    expect(bySort).toSatisfy((read: ReadJws) => !isSignedBy(read, ec.publicKey));
  });

  it('verify with no signature of another length', () => {
    const bytes = Buffer.from(tail, 'base64url');
    for (const wrong of [Buffer.alloc(0), bytes.subarray(0, 63), Buffer.concat([bytes, bytes]), Buffer.alloc(64)])
      expect(verified(`${head}.${body}.${wrong.toString('base64url')}`)).toBeUndefined();
  });
});
