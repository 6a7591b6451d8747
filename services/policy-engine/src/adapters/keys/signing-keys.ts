import { KeyObject, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, stat, unlink, writeFile, link } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AUTHORIZATION_TYPE, type AuthorizationClaims } from '@lineclear/contracts';
import { ConfigError } from '@lineclear/errors';
import { signJws } from '@lineclear/identity';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

/** JSON Web Key Set with public keys alone. */
export interface PublicKeys {
  readonly keys: readonly JWK[];
}

/** Signs authorizations. The private key does not leave this object. */
export interface SigningKeys {
  readonly publicKeys: PublicKeys;
  /** Compact JWS over the claims. */
  readonly sign: (claims: AuthorizationClaims) => string;
}

/** Injection token. */
export const SIGNING_KEYS = Symbol('SIGNING_KEYS');

/** CAUTION: the registry accepts this algorithm alone. */
const ALGORITHM = 'EdDSA';
/** Written next to the key file, for a registry that reads a file instead of a URL. */
const PUBLIC_FILE = 'policy-jwks.json';

/**
 * Reads the key file, or makes one with a new Ed25519 key; the first of several starters wins. It holds one private JWK, or `{keys: [...]}`:
 * the first signs, the others (private or public) are only published, so that a key can be rotated in two steps.
 * @throws ConfigError naming the file and the next step, never a part of a key
 */
export async function openSigningKeys(file: string): Promise<SigningKeys> {
  const text = (await readSecret(file)) ?? (await createSecret(file));
  const [first, ...others] = parseKeys(file, text);
  if (first === undefined || first.d === undefined) throw unusable(file, 'its first key is not a private one');
  const publicKeys = { keys: await Promise.all([first, ...others].map((key) => toPublic(file, key))) };
  const key = await privateKeyOf(file, first);
  await replaceFile(join(dirname(file), PUBLIC_FILE), `${JSON.stringify(publicKeys, null, 2)}\n`, 0o644);
  const header = { typ: AUTHORIZATION_TYPE, kid: publicKeys.keys[0]?.kid ?? '' };
  return { publicKeys, sign: (claims) => signJws(header, JSON.stringify(claims), key) };
}

async function privateKeyOf(file: string, jwk: JWK): Promise<KeyObject> {
  try {
    return KeyObject.from((await importJWK(jwk, ALGORITHM, { extractable: true })) as CryptoKey);
  } catch (cause) {
    throw unusable(file, 'its first key cannot be used', cause);
  }
}

async function readSecret(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      throw new ConfigError([
        {
          where: file,
          what: 'the signing key can be read by others',
          seen: `mode ${(mode & 0o777).toString(8)}`,
          expected: 'mode 600',
          next: 'run `chmod 600` on it; if others may have read it, replace the key',
        },
      ]);
    }
    return await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (cause instanceof ConfigError) throw cause;
    throw unusable(file, 'it cannot be read', cause);
  }
}

async function createSecret(file: string): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(privateKey);
  const text = `${JSON.stringify({ ...jwk, alg: ALGORITHM, use: 'sig', kid: await calculateJwkThumbprint(jwk) })}\n`;
  const draft = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(draft, 'wx', 0o600);
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await unlink(draft);
  } catch (cause) {
    throw unusable(file, 'it cannot be made', cause);
  }
  return (await readSecret(file)) ?? text;
}

function parseKeys(file: string, text: string): readonly JWK[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable(file, 'it is not JSON');
  }
  const keys = isRecord(value) && Array.isArray(value.keys) ? value.keys : [value];
  return keys.map((key: unknown) => {
    if (isRecord(key) && key['kty'] === 'OKP' && key['crv'] === 'Ed25519' && typeof key['x'] === 'string') return key;
    throw unusable(file, 'one of its keys is not an Ed25519 key');
  });
}

async function toPublic(file: string, { kty, crv, x, kid }: JWK): Promise<JWK> {
  if (kty === undefined || crv === undefined || x === undefined)
    throw unusable(file, 'one of its keys is not complete');
  const jwk = { kty, crv, x };
  return { ...jwk, alg: ALGORITHM, use: 'sig', kid: kid ?? (await calculateJwkThumbprint(jwk)) };
}

/** Replaces a file at once: readers see the old or the new one, whole. */
async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode });
    await rename(draft, file);
  } catch (cause) {
    throw unusable(file, 'it cannot be written', cause);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function unusable(file: string, what: string, cause?: unknown): ConfigError {
  const expected = 'a private Ed25519 JWK, or {"keys": [...]} with the signing key first';
  const next = 'correct it, restore it, or name another by POLICY_KEY_FILE';
  return new ConfigError([{ where: file, what, expected, next }], { cause });
}
