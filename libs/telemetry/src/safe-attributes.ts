import type { Attributes } from '@opentelemetry/api';
import { isSecretKey, type PlainLimits, plainValue } from './plain-value.js';

/**
 * Span attributes of any values, so that tracing never changes the outcome of a run: scalars stay, lists of text stay, the rest becomes JSON
 * text, cut but valid. Undefined values are left out, those of secret keys replaced.
 * @param limits per attribute; by default 4,096 characters
 */
export function safeAttributes(
  values: Readonly<Record<string, unknown>>,
  limits: Partial<PlainLimits> = {},
): Attributes {
  const attributes: Attributes = {};
  for (const key of Object.keys(values)) {
    const value = read(values, key);
    if (value === undefined) continue;
    attributes[key] = isSecretKey(key) ? '[redacted]' : attribute(value, limits);
  }
  return attributes;
}

function attribute(value: unknown, limits: Partial<PlainLimits>): string | number | boolean | string[] {
  const plain = plainValue(value, limits);
  if (typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean') return plain;
  if (Array.isArray(plain) && plain.every((entry) => typeof entry === 'string')) return plain;
  return JSON.stringify(plain);
}

function read(values: Readonly<Record<string, unknown>>, key: string): unknown {
  try {
    return values[key];
  } catch {
    return '[unreadable]';
  }
}
