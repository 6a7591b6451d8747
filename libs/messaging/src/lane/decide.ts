import { InvariantViolationError, NotFoundError } from '@lineclear/errors';
import { message } from '../held/held-index.js';
import { timerKey } from '../timers/timer-queue.js';
import type { LaneConnection } from './connection.js';
import { type Decision, waitsInOrder } from './decision.js';
import type { LaneInput } from './input.js';
import type { Handler } from './registry.js';
import type { BusWork, Work } from './work.js';

export interface DecideOptions {
  readonly connection: LaneConnection;
}

type Decidable = Work & { readonly input: LaneInput };
type Wave = Map<Handler | undefined, Decidable[]>;

/**
 * Gives every work to its handler. Inputs of one handler go together; a later input of a key never goes before an earlier one: where the
 * handler changes, the later input waits for the next wave.
 */
export async function decideAll(works: readonly Work[], decision: Decision, options: DecideOptions): Promise<void> {
  const waves: Wave[] = [];
  const last = new Map<string, { wave: number; handler: Handler | undefined }>();
  for (const work of works) {
    if (!isDecidable(work)) {
      settleWithoutInput(work, decision);
      continue;
    }
    decision.expect(work);
    const may = mayDecide(work, decision);
    if (may !== true && !(await may.catch((error: unknown) => refuse(work, error, decision)))) continue;
    const { handler, key } = work;
    const before = last.get(key);
    const wave = before === undefined ? 0 : before.handler === handler ? before.wave : before.wave + 1;
    if (before?.wave !== wave || before.handler !== handler) last.set(key, { wave, handler });
    const group = (waves[wave] ??= new Map());
    const list = group.get(handler);
    if (list === undefined) group.set(handler, [work]);
    else list.push(work);
  }
  for (const wave of waves) for (const [handler, list] of wave) await decideGroup(handler, list, decision, options);
}

function refuse(work: Work, error: unknown, decision: Decision): false {
  decision.refuse(work, error);
  return false;
}

function isDecidable(work: Work): work is Decidable {
  return work.input !== undefined;
}

/** What no handler sees: skipped and invalid messages, and what the lane itself sent. */
function settleWithoutInput(work: Work, decision: Decision): void {
  const { shard } = work;
  if (work.origin === 'bus' && (work.fate === 'skip' || isKnown(work))) return decision.skip(work);
  if (work.origin === 'bus' || work.origin === 'held') {
    if (work.origin === 'held' && work.skip === true) return decision.settleAlone(work, () => undefined);
    if (work.origin === 'bus' && shard.held.isHeld(work.key)) return decision.wait(work);
    return decision.refuse(work, work.error);
  }
  if (work.origin === 'mailbox') return decision.settleAlone(work, work.settle ?? (() => undefined));
  decision.skip(work);
}

/** Held or dropped already: a repetition. */
function isKnown({ shard, source, id }: BusWork): boolean {
  if (shard.held.size === 0 && shard.drops.size === 0) return false;
  return shard.held.hasMessage(source, id) || shard.drops.has(message(source, id));
}

/** Whether a handler is to see the work. Asks nobody in the usual case, and then answers at once. */
function mayDecide(work: Decidable, decision: Decision): true | Promise<boolean> {
  if (work.origin !== 'bus') return isCurrent(work) || settled(work, decision);
  if (isKnown(work)) return settled(work, decision);
  if (!work.shard.held.isHeld(work.key)) return true;
  return passesHeld(work, decision).then((passes) => {
    if (!passes) decision.wait(work);
    return passes;
  });
}

/** What this is about may have been settled since it was queued. */
function isCurrent(work: Exclude<Decidable, { origin: 'bus' }>): boolean {
  const { shard } = work;
  switch (work.origin) {
    case 'timer':
      return shard.timers.get(timerKey(work.entry.key, work.entry.name)) === work.entry;
    case 'dispatch':
      return shard.jobs.get(work.row.id) === work.row;
    case 'job':
      return shard.jobs.get(work.job)?.attempt === work.attempt;
    case 'held':
      return shard.held.find(work.key, work.row.heldId) !== undefined;
    case 'mailbox':
      return true;
  }
}

function settled(work: Work, decision: Decision): Promise<false> {
  const isMail = work.origin === 'job' && work.mailbox !== undefined;
  if (isMail) decision.settleAlone(work, () => undefined);
  else decision.skip(work);
  return NO;
}

const NO: Promise<false> = Promise.resolve(false);

/** Whether a bus message goes on although its key is held. Rejects with what the handler's predicate throws. */
export async function passesHeld(work: Work, decision: Decision): Promise<boolean> {
  if (!waitsInOrder(work)) return true;
  const predicate = work.handler?.patterns.passesHeld;
  return predicate !== undefined && work.input?.kind === 'event' && (await predicate(work.input, decision));
}

async function decideGroup(
  handler: Handler | undefined,
  works: readonly Decidable[],
  decision: Decision,
  options: DecideOptions,
): Promise<void> {
  if (handler === undefined) {
    for (const work of works) decision.settleAlone(work, () => refuseWithoutHandler(work));
    return;
  }
  const fresh =
    handler.patterns.inbox === undefined ? works : await unseen(handler.patterns.inbox, works, decision, options);
  if (fresh.length === 0) return;
  if (!handler.batch) {
    for (const { input } of fresh) await decision.single(input, (context) => handler.handle(input, context));
    return;
  }
  const inputs = fresh.map(({ input }) => input);
  try {
    await handler.handle(inputs, decision);
  } catch (error) {
    for (const input of inputs) decision.fail(input, error);
  }
  for (const work of fresh)
    if (!decision.isSettled(work))
      decision.refuse(
        work,
        new InvariantViolationError('invariant-violated', `\`${handler.name}\` did not decide an input`),
      );
}

/** A job may need no answer and a drop none either; a command that nobody takes is refused, a timer is a bug. */
function refuseWithoutHandler({ input }: Decidable): void {
  if (input.kind === 'command') throw new NotFoundError(`command \`${input.name}\` is not known here`);
  if (input.kind === 'timer')
    throw new InvariantViolationError('invariant-violated', `timer \`${input.name}\` has no handler`);
}

/** Rule 3 of messaging.md section 4: leaves out what the inbox knows. */
async function unseen(
  consumer: string,
  works: readonly Decidable[],
  decision: Decision,
  { connection }: DecideOptions,
): Promise<Decidable[]> {
  const events = works.flatMap(({ input }) => (input.kind === 'event' ? [input] : []));
  const rows = await connection.query<{ source: string; id: string }>(
    `SELECT v.source, v.id FROM unnest($2::text[], $3::text[]) AS v(source, id) CROSS JOIN LATERAL (
       SELECT FROM inbox i WHERE i.consumer = $1 AND i.source = v.source AND i.id = v.id LIMIT 1) AS i`,
    [consumer, events.map(({ event }) => event.source), events.map(({ id }) => id)],
  );
  const seen = new Set(rows.map(({ source, id }) => message(source, id)));
  return works.filter((work) => {
    const { input } = work;
    if (input.kind !== 'event') return true;
    const name = message(input.event.source, input.id);
    const isSeen = seen.has(name);
    seen.add(name);
    if (isSeen) decision.settleSeen(work);
    return !isSeen;
  });
}
