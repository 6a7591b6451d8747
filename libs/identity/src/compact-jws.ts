import { isUtf8 } from 'node:buffer';
import { type KeyObject, sign, verify } from 'node:crypto';

/** Ed25519 alone. CAUTION: signatures of other releases are compared with it. */
const ALGORITHM = 'EdDSA';

export interface JwsHeader {
  readonly kid: string;
  readonly typ?: unknown;
}

/** A JWS that was taken apart; nothing is known about its signature yet. */
export interface ReadJws {
  readonly header: JwsHeader;
  readonly payload: string;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Compact JWS (alg EdDSA) on the calling thread; docs/adr/0006-signatures-on-the-thread.md says why it is by hand. */
export function signJws(header: JwsHeader, payload: string, key: KeyObject): string {
  const signed = `${encoded(JSON.stringify({ alg: ALGORITHM, ...header }))}.${encoded(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

/** Never throws. Undefined for another algorithm, a missing key id, an extension (`crit`, `b64`), and for parts that are not canonical base64url of UTF-8. */
export function readJws(jws: string): ReadJws | undefined {
  const parts = jws.split('.', 4);
  const [head = '', body = '', tail = ''] = parts;
  const header = headerOf(textOf(head));
  const payload = textOf(body);
  const signature = bytesOf(tail);
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) return undefined;
  return { header, payload, signed: Buffer.from(`${head}.${body}`), signature };
}

/** INVARIANT: what readJws gives is worth nothing before this is true. `key` is a public Ed25519 key, chosen by the id in the header. */
export function isSignedBy({ signed, signature }: ReadJws, key: KeyObject): boolean {
  return key.asymmetricKeyType === 'ed25519' && verify(null, signed, key, signature);
}

function headerOf(text: string | undefined): JwsHeader | undefined {
  const header = text === undefined ? undefined : objectOf(text);
  if (header === undefined || header['alg'] !== ALGORITHM || 'crit' in header || 'b64' in header) return undefined;
  const { kid, typ } = header;
  return typeof kid === 'string' ? { kid, typ } : undefined;
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(part: string): string | undefined {
  const bytes = bytesOf(part);
  return bytes === undefined || !isUtf8(bytes) ? undefined : bytes.toString('utf8');
}

/** Buffer skips what it does not know; only what it would write again is taken. */
function bytesOf(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

const encoded = (text: string): string => Buffer.from(text).toString('base64url');
