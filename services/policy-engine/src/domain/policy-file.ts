import { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS } from '@lineclear/contracts';
import { z } from 'zod';
import { durationMs } from './duration.js';

const wellFormed = z.string().refine((text) => text.isWellFormed(), 'must be well-formed Unicode');
const role = wellFormed.min(1);
const toolGlob = z.string().regex(/^[^\s\p{C}]+$/u);
const integer = z.int();
const scalar = z.union([wellFormed, integer, z.boolean()]);
const duration = (least: string, most: string) =>
  z.string().refine((text) => {
    const ms = durationMs(text);
    return ms !== undefined && ms >= (durationMs(least) ?? 0) && ms <= (durationMs(most) ?? 0);
  }, `must be a time from ${least} to ${most}, such as \`30s\`, \`15m\`, \`1h\` or \`2d\``);

const condition = z.union([
  scalar,
  z.strictObject({
    min: integer.optional(),
    max: integer.optional(),
    equals: scalar.optional(),
    in: z.array(scalar).min(1).optional(),
    matches: wellFormed.optional(),
    present: z.boolean().optional(),
  }),
]);

const rule = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  allow: toolGlob.optional(),
  ask: toolGlob.optional(),
  deny: toolGlob.optional(),
  roles: z.array(role).min(1).optional(),
  where: z.record(wellFormed, condition).optional(),
  approvers: z.array(role).min(1).optional(),
  fourEyes: z.boolean().optional(),
  expires: duration('30s', '30d').optional(),
  validFor: duration('10s', '24h').optional(),
  terminal: z.boolean().optional(),
});

const labels = z.strictObject({
  confidentiality: z.enum(CONFIDENTIALITY_LEVELS).optional(),
  integrity: z.enum(INTEGRITY_LEVELS).optional(),
});

const testCase = z.strictObject({
  call: z.string().min(1),
  roles: z.array(role).default([]),
  arguments: z.record(z.string(), z.unknown()).default({}),
  approved: z.boolean().default(false),
  labels: labels.default({}),
  /** traits that differ from the assumed ones */
  tool: z
    .strictObject({
      write: z.boolean().optional(),
      repeatable: z.boolean().optional(),
      leavesSystem: z.boolean().optional(),
      key: z.enum(['honoured', 'none']).optional(),
      timeoutMs: z.int().positive().optional(),
      unknownWaitMs: z.int().nonnegative().optional(),
    })
    .default({}),
  expect: z.enum(['allow', 'ask', 'deny']),
  /** a rule that must be among the determining ones */
  rule: z.string().optional(),
});

/** policies/<name>.yaml. `version` is the format's; versions of the set are counted by the service. */
export const policyFileSchema = z.strictObject({
  policy: z.string().regex(/^[a-z][a-z0-9-]{0,62}$/),
  version: z.literal(1),
  rules: z.array(rule),
  tests: z.array(testCase).default([]),
});

export type PolicyFile = z.infer<typeof policyFileSchema>;
export type RuleEntry = PolicyFile['rules'][number];
export type ConditionEntry = NonNullable<RuleEntry['where']>[string];
export type TestCase = PolicyFile['tests'][number];
