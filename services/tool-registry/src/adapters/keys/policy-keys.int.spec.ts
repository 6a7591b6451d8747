import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUTHORIZATION_TYPE } from '@lineclear/contracts';
import { eventually } from '@lineclear/test-kit';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PolicyKeys } from './policy-keys.js';

const CLAIMS = { sub: 'call-1' };
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

let folder: string;
let file: string;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
  file = join(folder, 'jwks.json');
  keys = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

async function publish(): Promise<PolicyKeys> {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'EdDSA', use: 'sig' };
  writeFileSync(file, JSON.stringify({ keys: [jwk] }));
  return new PolicyKeys({ file });
}

async function sign(header: object = {}, signer = keys.privateKey): Promise<string> {
  const protectedHeader = { alg: 'EdDSA', typ: AUTHORIZATION_TYPE, kid: 'k1', ...header };
  return await new CompactSign(Buffer.from(JSON.stringify(CLAIMS))).setProtectedHeader(protectedHeader).sign(signer);
}

describe('keys of the policy engine', () => {
  it('verify what it signed', async () => {
    expect(await (await publish()).verify(await sign())).toEqual({ valid: true, payload: CLAIMS });
  });

  it('verify nothing else: other keys, algorithms, types, and keys that the message brings along', async () => {
    const policy = await publish();
    const forger = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
    const rsa = await generateKeyPair('RS256');
    const secret = Buffer.from((await exportJWK(keys.publicKey)).x ?? '', 'base64url');
    const good = await sign();
    const [header = '', payload = '', signature = ''] = good.split('.');
    const forged = [
      await sign({}, forger.privateKey),
      await sign({ kid: 'k2' }, forger.privateKey),
      await sign({ jwk: await exportJWK(forger.publicKey) }, forger.privateKey),
      await sign({ typ: 'JWT' }),
      await sign({ typ: undefined }),
      await sign({ kid: undefined }),
      await sign({ crit: ['b64'], b64: true }),
      await sign({ alg: 'RS256' }, rsa.privateKey),
      await new CompactSign(Buffer.from('{}'))
        .setProtectedHeader({ alg: 'HS256', typ: AUTHORIZATION_TYPE, kid: 'k1' })
        .sign(secret),
      `${part({ alg: 'none', typ: AUTHORIZATION_TYPE })}.${payload}.`,
      `${header}.${part({ sub: 'call-2' })}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -4)}`,
      `${good}.x`,
      `${good}=`,
      `${header}=.${payload}.${signature}`,
      '',
      '..',
      'a'.repeat(100_000),
    ];
    for (const jws of forged) expect(await policy.verify(jws)).toMatchObject({ valid: false, why: expect.any(String) });
  });

  it('verify nothing by a key that is published twice under one id, or not for signatures of this sort', async () => {
    const jwk = await exportJWK(keys.publicKey);
    const unfit = [
      [{ kid: 'k1' }, { kid: 'k1' }],
      [{ kid: 'k1', alg: 'Ed25519' }],
      [{ kid: 'k1', use: 'enc' }],
      [{ kid: 'k1', key_ops: ['sign'] }],
      [{ kid: 'k1', d: (await exportJWK(keys.privateKey)).d }],
      [{ kid: 'k1', x: 'AAAA' }],
      [{ kid: 'k1', kty: 'EC', crv: 'P-256', y: jwk.x }],
    ];
    for (const set of unfit) {
      writeFileSync(file, JSON.stringify({ keys: set.map((change) => ({ ...jwk, ...change })) }));
      expect(await new PolicyKeys({ file }).verify(await sign())).toMatchObject({ valid: false });
    }
  });

  it('are looked at again for an unknown id, and then only those that are published now count', async () => {
    const first = keys;
    const policy = await publish();
    const old = await sign();
    expect(await policy.verify(old)).toMatchObject({ valid: true });
    keys = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k2', alg: 'EdDSA', use: 'sig' };
    writeFileSync(file, JSON.stringify({ keys: [jwk] }));
    expect(await policy.verify(await sign({ kid: 'k2' }))).toMatchObject({ valid: false });
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_001);
    expect(await policy.verify(await sign({ kid: 'k2' }))).toMatchObject({ valid: true });
    expect(await policy.verify(await sign({}, first.privateKey))).toMatchObject({ valid: false });
  });

  it('are no verdict while they cannot be read, and are read once they are there', async () => {
    const policy = new PolicyKeys({ file });
    await expect(policy.verify(await sign())).rejects.toMatchObject({ code: 'unavailable' });
    await publish();
    const jws = await sign();
    await eventually(async () => expect(await policy.verify(jws)).toMatchObject({ valid: true }));
  });
});
