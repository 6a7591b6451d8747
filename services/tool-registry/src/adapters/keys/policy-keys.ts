import { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { AUTHORIZATION_TYPE } from '@lineclear/contracts';
import { TransientError } from '@lineclear/errors';
import { isSignedBy, readJws } from '@lineclear/identity';
import { createLocalJWKSet, errors, type JSONWebKeySet } from 'jose';

/** Where the policy engine's public keys come from: configuration alone, never an event. */
export type KeySource = { readonly url: string } | { readonly file: string };

export type SignatureVerdict =
  | { readonly valid: true; readonly payload: unknown }
  | { readonly valid: false; readonly why: string };

/** An unknown key id may be a new key or a forgery: it makes us look again at most so often. */
const LOOK_AGAIN_MS = 10_000;
const FETCH_TIMEOUT_MS = 2_000;
/** A source that cannot be read is not asked by every batch. */
const REST_AFTER_FAILURE_MS = 500;

/** One published set; jose chooses and imports the key of an id, once. */
interface PublishedKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly found: Map<string, KeyObject>;
}

/** Verifies the signature, algorithm and type of authorizations. */
export class PolicyKeys {
  #keys: PublishedKeys | undefined;
  #loading: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly source: KeySource) {}

  /**
   * The payload of a compact JWS that one of the keys made, parsed. Never throws for what the JWS holds.
   * @throws TransientError `unavailable` while no keys could be read: then nothing is known about the JWS
   */
  async verify(jws: string): Promise<SignatureVerdict> {
    if (this.#keys === undefined) await this.#load();
    const verdict = await this.#check(jws);
    if (verdict !== 'unknown-key') return verdict;
    if (performance.now() - this.#lookedAt < LOOK_AGAIN_MS) return unknownKey;
    await this.#load();
    const again = await this.#check(jws);
    return again === 'unknown-key' ? unknownKey : again;
  }

  async #check(jws: string): Promise<SignatureVerdict | 'unknown-key'> {
    const keys = this.#keys;
    if (keys === undefined) throw notReadable(this.source);
    const read = readJws(jws);
    if (read === undefined) return notVerified;
    try {
      const key = keys.found.get(read.header.kid) ?? (await keyOf(keys, read.header.kid));
      if (!isSignedBy(read, key)) return notVerified;
      if (read.header.typ !== AUTHORIZATION_TYPE) return { valid: false, why: 'it is a signature of another type' };
      return { valid: true, payload: JSON.parse(read.payload) as unknown };
    } catch (error) {
      return error instanceof errors.JWKSNoMatchingKey ? 'unknown-key' : notVerified;
    }
  }

  /** One load at a time, however many wait for it. */
  async #load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => (this.#loading = undefined));
    await this.#loading;
  }

  async #read(): Promise<void> {
    if (performance.now() - this.#failedAt < REST_AFTER_FAILURE_MS) return;
    try {
      const keys = 'file' in this.source ? await readFile(this.source.file, 'utf8') : await fetched(this.source.url);
      this.#keys = { find: createLocalJWKSet(JSON.parse(keys) as JSONWebKeySet), found: new Map() };
      this.#lookedAt = performance.now();
    } catch (cause) {
      this.#failedAt = performance.now();
      if (this.#keys === undefined) throw notReadable(this.source, cause);
    }
  }
}

const notVerified: SignatureVerdict = { valid: false, why: 'its signature does not verify' };
const unknownKey: SignatureVerdict = {
  valid: false,
  why: 'it is signed with a key that the policy engine does not publish',
};

/** @throws JWKSNoMatchingKey for an id that is not published; others for one that is published twice, or as a key that cannot be used */
async function keyOf({ find, found }: PublishedKeys, kid: string): Promise<KeyObject> {
  const key = KeyObject.from(await find({ alg: 'EdDSA', kid }));
  found.set(kid, key);
  return key;
}

async function fetched(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS), redirect: 'error' });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return await response.text();
}

function notReadable(source: KeySource, cause?: unknown): TransientError {
  const where = 'file' in source ? source.file : source.url;
  return new TransientError('unavailable', `the policy engine's public keys cannot be read from \`${where}\``, {
    cause,
  });
}
