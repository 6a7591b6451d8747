import { findLossyNumber } from './lossy-number.js';

/** Deeper nesting is refused: recursive readers further on would fail on it. */
const MAX_DEPTH = 64;
const MAX_BYTES = 128 * 1024;

export type ReadArguments =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly text: string };

const refused = (text: string): ReadArguments => ({ ok: false, text });

/**
 * Arguments from the raw text a model wrote. Empty text and `null` mean `{}`; anything else must be one JSON object. Never repaired, never
 * rounded. Keys such as `__proto__` come back as own, plain properties; of a repeated key the last one counts, as in JSON.parse.
 */
export function readArguments(raw: string): ReadArguments {
  const text = raw.trim();
  if (text === '') return { ok: true, value: {} };
  if (Buffer.byteLength(text) > MAX_BYTES)
    return refused(`the arguments have ${Buffer.byteLength(text)} bytes; at most ${MAX_BYTES} are possible`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refused(`the arguments are not valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (value === null) return { ok: true, value: {} };
  if (typeof value !== 'object' || Array.isArray(value))
    return refused(
      `the arguments must be one JSON object, seen ${Array.isArray(value) ? 'an array' : `a ${typeof value}`}`,
    );
  const fault = faultIn(text, value);
  return fault === undefined ? { ok: true, value: { ...value } } : refused(fault);
}

function faultIn(text: string, value: object): string | undefined {
  if (depthExceeds(text, MAX_DEPTH)) return `the arguments are nested deeper than ${MAX_DEPTH} levels`;
  const lossy = findLossyNumber(text);
  if (lossy !== undefined) return `the number \`${lossy.slice(0, 60)}\` cannot be held exactly; send it as a string`;
  const bad = badTextIn(text, value);
  return bad === undefined ? undefined : `the arguments hold ${bad}; leave it out`;
}

function depthExceeds(text: string, limit: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') i = endOfString(text, i);
    else if (char === '{' || char === '[') {
      if (++depth > limit) return true;
    } else if (char === '}' || char === ']') depth--;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

/** JSON.stringify escapes exactly what we look for: lone surrogates and U+0000. An even number of backslashes before is literal text. */
const ESCAPED_LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

function badTextIn(text: string, value: object): string | undefined {
  if (text.isWellFormed() && !/\\u(?:[dD][89a-fA-F]|0000)/.test(text)) return undefined;
  const written = JSON.stringify(value);
  if (ESCAPED_NUL.test(written)) return 'the character U+0000';
  return ESCAPED_LONE_SURROGATE.test(written) ? 'half of a surrogate pair' : undefined;
}
