import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TransientError, UnauthorizedError } from '@lineclear/errors';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TokenVerifier } from './token-verifier.js';

const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1' }] };

async function withServer<T>(status: number, body: string, work: (verifier: TokenVerifier) => Promise<T>): Promise<T> {
  const server = createServer((_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  try {
    return await work(new TokenVerifier({ issuer: 'i', audience: 'a', keys: { url } }));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function token(kid: string, lifetime = '1m'): Promise<string> {
  return new SignJWT({ tenant: 't' })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer('i')
    .setAudience('a')
    .setSubject('s')
    .setExpirationTime(lifetime)
    .sign(privateKey);
}

afterEach(() => {
  vi.useRealTimers();
});

describe('keys of a remote issuer', () => {
  it('are asked for again, also for a token that was good before', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const good = await token('k1', '1h');
    const verifier = await withServer(200, JSON.stringify(jwks), async (remote) => {
      await remote.verify(good);
      expect(await remote.verify(good)).toMatchObject({ subject: 's' });
      return remote;
    });
    vi.setSystemTime(Date.now() + 11 * 60_000);
    await expect(verifier.verify(good)).rejects.toBeInstanceOf(TransientError);
  });

  it('are fetched and used', async () => {
    await withServer(200, JSON.stringify(jwks), async (verifier) => {
      expect(await verifier.verify(await token('k1'))).toMatchObject({ subject: 's' });
      await expect(verifier.verify(await token('k2'))).rejects.toBeInstanceOf(UnauthorizedError);
    });
  });

  it.each([
    [503, 'down'],
    [200, 'not json'],
    [200, '{}'],
  ])('that cannot be had (%i %s) are no fault of the token', async (status, body) => {
    await withServer(status, body, async (verifier) => {
      await expect(verifier.verify(await token('k1'))).rejects.toBeInstanceOf(TransientError);
    });
  });

  it('need an address', () => {
    expect(() => new TokenVerifier({ issuer: 'i', audience: 'a', keys: { url: 'file:///etc/passwd' } })).toThrow(
      'this is no address',
    );
  });
});
