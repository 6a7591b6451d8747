import { derivedId, type Topic } from '@lineclear/contracts';
import { dispositionOf, toFailure } from '@lineclear/errors';
import { laterMs, retryDelayMs } from '../held/backoff.js';
import { message } from '../held/held-index.js';
import { type HeldRow, heldTableRow } from '../held/held-row.js';
import { PauseWatch } from '../held/pause.js';
import { HELD_TABLE, ANSWER_TABLE } from '../tables/lane-tables.js';
import type { BatchWrites } from './batch-writes.js';
import type { LaneCounters } from './counters.js';
import { passesHeld } from './decide.js';
import { storable } from './decode.js';
import type { Decision } from './decision.js';
import type { Log } from './log.js';
import type { Shard } from './shard.js';
import type { BusWork, HeldWork, Work } from './work.js';

/** A command that somebody waits for is answered with its failure after this many tries. */
const COMMAND_TRIES = 3;

/** What became of the works that were not done. */
export interface Settled {
  /** not done by this batch: put back, in their order */
  readonly notYet: readonly Work[];
  /** to be tried again in memory after a while */
  readonly later: readonly { readonly work: Work; readonly afterMs: number }[];
  readonly heldRows: readonly { readonly shard: Shard; readonly row: HeldRow; readonly isNew: boolean }[];
  readonly failedCommands: readonly { readonly id: string; readonly error: unknown }[];
}

/** The lane stops taking inputs for a while instead of parking most of them. */
export class Pause extends Error {
  constructor(readonly pauseMs: number) {
    super(`more than half of the keys fail; pausing for ${pauseMs} ms`);
  }
}

export interface FailureOptions {
  readonly counters: LaneCounters;
  readonly log: Log;
  readonly random: () => number;
}

/** Decides what follows from each failure and writes it into the batch (messaging.md section 8). */
export class Failures {
  readonly #watch = new PauseWatch();

  constructor(private readonly options: FailureOptions) {}

  /** @throws Pause when more than half of the keys fail */
  async settle(works: readonly Work[], decision: Decision, writes: BatchWrites): Promise<Settled> {
    const settled = new Settling(decision, writes, this.options);
    if (decision.failures.size > 0) this.#watchKeys(works, decision);
    else if (works.length > 0) this.#watch.see(keysOf(works), new Set(), performance.now());
    for (const [work, error] of decision.failures) settled.failed(work, error);
    for (const work of decision.behind) if (work.origin === 'bus') await settled.wait(work);
    return settled;
  }

  #watchKeys(works: readonly Work[], decision: Decision): void {
    const failed = new Set<string>();
    for (const [{ origin, key }, error] of decision.failures)
      if ((origin === 'bus' || origin === 'held') && dispositionOf(error) !== 'terminal') failed.add(key);
    const pauseMs = this.#watch.see(keysOf(works), failed, performance.now());
    if (pauseMs === undefined) return;
    const [first] = decision.failures.values();
    this.options.log.error(
      { pauseMs, failedKeys: failed.size, failure: toFailure(first) },
      'more than half of the keys fail; the lane pauses',
    );
    throw new Pause(pauseMs);
  }
}

/** Somebody waits for the answer, and would rather hear of the failure than wait on. */
function isAwaited(work: Work): boolean {
  return work.origin === 'mailbox' && work.mailbox.kind === 'command';
}

function* keysOf(works: readonly Work[]): Iterable<string> {
  for (const { origin, key } of works) if (origin === 'bus' || origin === 'held') yield key;
}

class Settling implements Settled {
  readonly notYet: Work[] = [];
  readonly later: { work: Work; afterMs: number }[] = [];
  readonly heldRows: { shard: Shard; row: HeldRow; isNew: boolean }[] = [];
  readonly failedCommands: { id: string; error: unknown }[] = [];
  readonly #next = new Map<string, number>();
  readonly #messages = new Set<string>();

  constructor(
    private readonly decision: Decision,
    private readonly writes: BatchWrites,
    private readonly options: FailureOptions,
  ) {}

  failed(work: Work, error: unknown): void {
    const { counters, log } = this.options;
    counters.failures += 1;
    const { code } = toFailure(error);
    log.warn({ err: error, code, key: work.key, origin: work.origin, input: work.input?.id }, 'an input failed');
    if (work.origin === 'bus') return this.#hold(work, error);
    if (work.origin === 'held') return this.#again(work, error);
    work.tries += 1;
    const isFinal = dispositionOf(error) === 'terminal' || (isAwaited(work) && work.tries >= COMMAND_TRIES);
    if (work.origin === 'mailbox' && isFinal) return this.#answer(work, work.mailbox.id, error);
    this.later.push({ work, afterMs: laterMs(work.tries, this.options.random) });
  }

  /** A message behind a failed or held one of its key, unless its handler lets it pass: then it is decided in the next batch. */
  async wait(work: BusWork): Promise<void> {
    const isHeld = work.shard.held.isHeld(work.key);
    if (!isHeld && work.input !== undefined && (await passesHeld(work, this.decision))) this.notYet.push(work);
    else this.#append(work, { state: 'waiting', attempts: 0, dueAt: null, failure: null, code: null });
  }

  #hold(work: BusWork, error: unknown): void {
    if (work.shard.held.isHeld(work.key))
      return this.#append(work, { state: 'waiting', attempts: 0, dueAt: null, failure: null, code: null });
    this.#append(work, this.#stateAfter(error, 1));
  }

  #stateAfter(error: unknown, attempts: number): Pick<HeldRow, 'state' | 'attempts' | 'dueAt' | 'failure' | 'code'> {
    const delayMs = retryDelayMs(error, attempts, this.options.random);
    const failure = toFailure(error);
    const state = delayMs === undefined ? 'parked' : 'retrying';
    const dueAt = delayMs === undefined ? null : this.decision.now.getTime() + delayMs;
    return { state, attempts, dueAt, failure: JSON.stringify(failure), code: failure.code };
  }

  #append(work: BusWork, state: Pick<HeldRow, 'state' | 'attempts' | 'dueAt' | 'failure' | 'code'>): void {
    const { shard, key, record, source, id, type } = work;
    const name = message(source, id);
    if (this.#messages.has(name)) return;
    this.#messages.add(name);
    const n = this.#next.get(key) ?? shard.held.nextN(key);
    this.#next.set(key, n + 1);
    const row: HeldRow = {
      ...state,
      key,
      n,
      shard: shard.id,
      heldId: derivedId('held', source, id),
      source,
      id,
      type,
      topic: record.topic as Topic,
      partition: record.partition,
      offset: record.offset,
      headers: JSON.stringify(record.headers),
      data: record.value === null ? null : storable(record.value),
      heldAt: this.decision.now.getTime(),
    };
    this.writes.write(HELD_TABLE, 'append', heldTableRow(row), work);
    this.heldRows.push({ shard, row, isNew: true });
  }

  #again(work: HeldWork, error: unknown): void {
    const row = { ...work.row, ...this.#stateAfter(error, work.row.attempts + 1) };
    this.writes.write(HELD_TABLE, 'put', heldTableRow(row), work);
    this.heldRows.push({ shard: work.shard, row, isNew: false });
  }

  #answer(work: Work, id: string, error: unknown): void {
    const result = JSON.stringify({ ok: false, failure: toFailure(error) });
    this.writes.write(ANSWER_TABLE, 'answer', { id, result }, work);
    this.failedCommands.push({ id, error });
  }
}
