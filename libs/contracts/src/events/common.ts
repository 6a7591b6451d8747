import { z } from 'zod';

/** Position of a call's message in its protocol. `turn` and `step` count from 1, `index` from 0, `round` from 1 (at most 5). */
export const callRefShape = {
  callId: z.string(),
  turn: z.int().positive(),
  index: z.int().nonnegative(),
  round: z.int().positive(),
  stage: z.enum(['first', 'approved']),
};

/**
 * One input that a run consumed, with the database time of its batch. Together they let a run be replayed from its events alone:
 * `event` names an archived event, `task` and `job` are carried by the very event they are listed in (run.started; model-call.completed),
 * `timer` and `command` are inline.
 */
export const recordedInputSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('task'), id: z.string(), at: z.iso.datetime() }),
  z.object({ kind: z.literal('event'), id: z.string(), at: z.iso.datetime(), source: z.string() }),
  z.object({ kind: z.literal('job'), id: z.string(), at: z.iso.datetime(), step: z.int(), attempt: z.int() }),
  z.object({ kind: z.literal('timer'), id: z.string(), at: z.iso.datetime(), name: z.string(), payload: z.unknown() }),
  z.object({
    kind: z.literal('command'),
    id: z.string(),
    at: z.iso.datetime(),
    name: z.string(),
    payload: z.unknown(),
    by: z.string(),
  }),
]);

export type RecordedInput = z.infer<typeof recordedInputSchema>;

export const inputsShape = { inputs: z.array(recordedInputSchema) };

export const argumentsSchema = z.record(z.string(), z.unknown());
