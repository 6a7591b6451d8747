import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseConfigFile } from '@lineclear/config-file';
import type { Principal } from '@lineclear/contracts';
import { ConfigError } from '@lineclear/errors';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  SignJWT,
} from 'jose';
import { z } from 'zod';

/** CAUTION: tokens of running clients name these. */
export const DEVELOPMENT_ISSUER = 'lineclear-development';
export const DEFAULT_AUDIENCE = 'lineclear';

const FILE = 'development-issuer.json';
const keyFile = z.strictObject({
  version: z.literal(1),
  issuer: z.string().min(1),
  audience: z.string().min(1),
  key: z.strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string(),
    d: z.string(),
    kid: z.string(),
    alg: z.literal('EdDSA'),
  }),
});
type KeyFile = z.infer<typeof keyFile>;

export interface TokenRequest extends Principal {
  /** Default one hour, at most 30 days. */
  readonly lifetimeSeconds?: number;
}

/**
 * Makes tokens without asking anybody who they are: for one machine and for tests. Its key lies in the data folder, so whoever can read that
 * folder can be anyone. Production sets LINECLEAR_ISSUER, LINECLEAR_AUDIENCE and LINECLEAR_JWKS_URL instead.
 */
export class DevelopmentIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly #key: KeyFile['key'];

  private constructor(file: KeyFile) {
    this.issuer = file.issuer;
    this.audience = file.audience;
    this.#key = file.key;
  }

  /**
   * Opens the issuer of a data folder and makes its key when there is none; the first of several starters wins.
   * @param options.warn gets one loud line, for the log of a process that accepts such tokens
   * @throws ConfigError for a key file that is damaged or that others may read
   */
  static open(
    homeDir: string,
    options: { readonly create?: true; readonly warn: (line: string) => void },
  ): Promise<DevelopmentIssuer>;
  /** Opens it for making tokens only; undefined when there is none. */
  static open(homeDir: string, options: { readonly create: false }): Promise<DevelopmentIssuer | undefined>;
  static async open(
    homeDir: string,
    options: { readonly create?: boolean; readonly warn?: (line: string) => void },
  ): Promise<DevelopmentIssuer | undefined> {
    const file = join(homeDir, FILE);
    let text = await read(file);
    if (text === undefined) {
      if (options.create === false) return undefined;
      await createKey(homeDir, file);
      text = await read(file);
    }
    options.warn?.(
      `DEVELOPMENT ONLY: tokens of the development issuer are accepted; whoever reads ${file} can be any person of any tenant. Set LINECLEAR_ISSUER, LINECLEAR_AUDIENCE and LINECLEAR_JWKS_URL in production.`,
    );
    return new DevelopmentIssuer(parseConfigFile(text ?? '', { file, schema: keyFile }));
  }

  /** A signed bearer token for that principal. */
  async issue(request: TokenRequest): Promise<string> {
    const lifetimeSeconds = Math.min(request.lifetimeSeconds ?? 3_600, 30 * 86_400);
    const issuedAt = Math.floor(Date.now() / 1_000);
    return new SignJWT({ tenant: request.tenant, roles: [...request.roles], scope: request.scopes.join(' ') })
      .setProtectedHeader({ alg: 'EdDSA', kid: this.#key.kid, typ: 'JWT' })
      .setIssuer(this.issuer)
      .setAudience(this.audience)
      .setSubject(request.subject)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetimeSeconds)
      .setJti(randomUUID())
      .sign(await importJWK(this.#key, 'EdDSA'));
  }

  /** The public key, for `/dev/jwks.json`. */
  jwks(): JSONWebKeySet {
    const { kty, crv, x, kid, alg } = this.#key;
    return { keys: [{ kty, crv, x, kid, alg, use: 'sig' } satisfies JWK] };
  }
}

async function read(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return undefined;
  if ((found.mode & 0o077) !== 0) {
    const seen = (found.mode & 0o777).toString(8).padStart(4, '0');
    throw new ConfigError([
      {
        where: file,
        what: 'others may read the key of the development issuer',
        seen,
        expected: '0600',
        next: 'run `chmod 600` on it, or delete it to get a new key',
      },
    ]);
  }
  return readFile(file, 'utf8');
}

async function createKey(homeDir: string, file: string): Promise<void> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const key = { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'EdDSA' };
  const content = { version: 1, issuer: DEVELOPMENT_ISSUER, audience: DEFAULT_AUDIENCE, key };
  const fresh = `${file}.${randomUUID()}`;
  try {
    await mkdir(homeDir, { recursive: true, mode: 0o700 });
    await writeFile(fresh, `${JSON.stringify(content, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    await link(fresh, file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    throw new ConfigError(
      [
        {
          where: homeDir,
          what: 'the data folder cannot be used',
          seen: `\`${code ?? 'unknown'}\``,
          expected: 'a folder that can be created, read and written',
          next: 'correct its permissions, or name another by LINECLEAR_HOME',
        },
      ],
      { code: 'folder-unusable', cause },
    );
  } finally {
    await rm(fresh, { force: true }).catch(() => undefined);
  }
}
