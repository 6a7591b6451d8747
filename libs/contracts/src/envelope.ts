import { InvalidMessageError } from '@lineclear/errors';
import { z } from 'zod';
import { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS } from './label.js';

/**
 * CloudEvents 1.0 attributes and our extensions (architecture.md section 4). `subject` is the aggregate id and the partition key.
 * `sequence` counts per source and aggregate: for checks and latest-wins projections, never for dedupe.
 */
export const envelopeAttributesSchema = z.object({
  id: z.string().min(1),
  source: z.string().min(1),
  type: z.string().min(1),
  subject: z.string().min(1),
  time: z.iso.datetime(),
  tenant: z.string().min(1),
  correlationid: z.string().min(1),
  causationid: z.string().min(1).optional(),
  sequence: z.string().optional(),
  traceparent: z.string().optional(),
  confidentiality: z.enum(CONFIDENTIALITY_LEVELS),
  integrity: z.enum(INTEGRITY_LEVELS),
});

export type EnvelopeAttributes = z.infer<typeof envelopeAttributesSchema>;

export interface Envelope<T = unknown> extends EnvelopeAttributes {
  readonly data: T;
}

export type Headers = Readonly<Record<string, string>>;

const ATTRIBUTES = Object.keys(envelopeAttributesSchema.shape) as (keyof EnvelopeAttributes)[];

/** Kafka binary mode: attributes as `ce_*` headers; the value is the JSON text of `data` alone. */
export function encodeHeaders(attributes: EnvelopeAttributes): Record<string, string> {
  const headers: Record<string, string> = { ce_specversion: '1.0', 'content-type': 'application/json' };
  for (const name of ATTRIBUTES) {
    const value = attributes[name];
    if (value !== undefined) headers[`ce_${name}`] = value;
  }
  return headers;
}

/** The attributes in binary-mode headers. Throws InvalidMessageError that names the header, what was seen and what was expected. */
export function decodeHeaders(headers: Headers): EnvelopeAttributes {
  const seen = headers['ce_specversion'];
  if (seen !== '1.0')
    throw new InvalidMessageError('invalid-message', 'header `ce_specversion` is not `1.0`', {
      details: { where: 'ce_specversion', seen: seen ?? 'nothing', expected: '1.0' },
    });
  const raw = Object.fromEntries(
    ATTRIBUTES.flatMap((name) => (headers[`ce_${name}`] === undefined ? [] : [[name, headers[`ce_${name}`]]])),
  );
  const parsed = envelopeAttributesSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = `ce_${String(issue?.path[0] ?? '')}`;
  throw new InvalidMessageError('invalid-message', `header \`${where}\` is missing or malformed`, {
    details: { where, seen: headers[where] ?? 'nothing', expected: issue?.message ?? 'a CloudEvents attribute' },
  });
}
