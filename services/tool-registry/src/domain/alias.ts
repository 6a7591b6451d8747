import { sha256Hex } from '@lineclear/contracts';

const MAX_LENGTH = 64;
const PLAIN = /^[A-Za-z0-9_-]+$/;
const HASHED = /_[0-9a-f]{16}$/;
/** Names of the registry's own tools; no server's tool gets one of them as its alias. */
const RESERVED: readonly string[] = ['read_result', 'search_tools', 'delegate', 'ask_user'];

/** Canonical name, used in policies, approvals and audit. */
export const canonicalName = (server: string, tool: string): string => `${server}.${tool}`;

/**
 * The name that a model sees: at most 64 of [A-Za-z0-9_-], the same in every list and after every restart, since it depends on nothing but the
 * canonical name. A name that had to be cut or changed, or that looks as if it had been, carries 16 hex digits of its hash; server names hold no
 * underscore, so two plain aliases are never equal.
 */
export function aliasOf(name: string): string {
  const plain = name.replace('.', '_');
  const isTaken = HASHED.test(plain) || (RESERVED.includes(plain) && plain !== name);
  if (plain.length <= MAX_LENGTH && PLAIN.test(plain) && !isTaken) return plain;
  const suffix = `_${sha256Hex(name.toWellFormed()).slice(0, 16)}`;
  return plain.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_LENGTH - suffix.length) + suffix;
}
