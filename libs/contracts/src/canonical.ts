import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { InvalidMessageError } from '@lineclear/errors';

/** RFC 8785 canonical JSON of a JSON value. Throws InvalidMessageError for what JSON cannot hold (undefined, NaN, Infinity). */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (cause) {
    throw new InvalidMessageError('invalid-message', 'value has no canonical JSON form', {
      details: { reason: String(cause) },
      cause,
    });
  }
  if (text === undefined)
    throw new InvalidMessageError('invalid-message', 'value has no canonical JSON form: it is undefined');
  return text;
}

/** SHA-256 of UTF-8 text or bytes, as 64 lower-case hex characters. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** SHA-256 over the canonical JSON of a value, as 64 hex characters. */
export function contentHash(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}
