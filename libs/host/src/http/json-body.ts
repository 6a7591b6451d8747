import { InvalidMessageError } from '@lineclear/errors';

/** Texts that may hold a number which a double rounds: long digit runs, or any exponent. */
const SUSPICIOUS_NUMBER = /\d[\d.]{15,}|\d[eE][+-]?\d/;
const SUSPICIOUS_STRING = /\\u0000|\\u[dD][89a-fA-F]|\0/;
const UNSAFE_KEYS = new Set(['__proto__', 'constructor']);

/**
 * Reads a JSON body and refuses what would change on its way through the platform: numbers that a double cannot hold, U+0000, lone surrogates,
 * and keys that poison prototypes. Throws InvalidMessageError(`invalid-request`) that names the place. An empty body is undefined.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  const text = decode(bytes);
  if (text.trim() === '') return undefined;
  const exact = SUSPICIOUS_NUMBER.test(text);
  const value = parse(text, exact);
  if (SUSPICIOUS_STRING.test(text) || text.includes('__proto__') || text.includes('constructor')) check(value, 'body');
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('body', 'the body is not valid UTF-8', 'UTF-8 text');
  }
}

function parse(text: string, exact: boolean): unknown {
  try {
    return exact ? JSON.parse(text, refuseLossyNumber) : JSON.parse(text);
  } catch (error) {
    if (error instanceof InvalidMessageError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid('body', `the body is not JSON: ${reason.toLowerCase()}`, 'one JSON value');
  }
}

function refuseLossyNumber(key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value === 'number' && context?.source !== undefined && !isExact(context.source, value))
    throw invalid(`body, key \`${key}\``, `the number ${context.source} would be rounded`, 'the number as a string');
  return value;
}

/** A decimal text is exact when the double's shortest text is the same number. */
function isExact(source: string, value: number): boolean {
  return Number.isFinite(value) && normal(source) === normal(String(value));
}

/** Sign, significant digits and exponent of a decimal number, without leading and trailing zeros: equal for equal numbers. */
function normal(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[-+]/, '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${mantissa.startsWith('-') ? '-' : ''}${significant}e${scale}`;
}

function check(value: unknown, where: string): void {
  if (typeof value === 'string') checkText(value, where);
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) check(item, `${where}[${index}]`);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      checkText(key, `a key of ${where}`);
      if (key === '__proto__' || (UNSAFE_KEYS.has(key) && isPoison(item)))
        throw invalid(where, `the key \`${key}\` is not accepted`, 'another key');
      check(item, `${where}.${key}`);
    }
}

const isPoison = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');

function checkText(text: string, where: string): void {
  if (text.includes('\0')) throw invalid(where, 'the text holds U+0000, which no store keeps', 'text without U+0000');
  if (!text.isWellFormed()) throw invalid(where, 'the text holds half of a surrogate pair', 'well-formed Unicode');
}

function invalid(where: string, message: string, expected: string): InvalidMessageError {
  return new InvalidMessageError('invalid-request', message, { details: { where, expected } });
}
