import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gate, NOW_MS, permit, tool } from '../testing/mothers.js';
import { decideAuthorization } from './authorize.js';
import { DISPATCH_BY_MS, type Effect, isOpen } from './effect.js';
import { resolveUnknown } from './resolve.js';
import { type AttemptEnd, settleAttempt, type SettleStep, settleWaiting } from './settle.js';

const KINDS = {
  keyed: { key: 'honoured', timeoutMs: 1_000 },
  unkeyed: { key: 'none', timeoutMs: 1_000 },
} as const;
const OK = { text: 'done' };

/** One request on its way. Its process may be taken for dead and act, and report, all the same. */
interface Attempt {
  readonly n: number;
  readonly startedAt: number;
  readonly timeoutMs: number;
  isSent: boolean;
  hasActed: boolean;
  hasRefused: boolean;
  isTakenForDead: boolean;
  isReported: boolean;
  isTold: boolean;
}

/** A call of one kind in a world that does what it may: the ledger is the product's, the rest is the test's. */
class World {
  now = NOW_MS;
  effects = 0;
  effect: Effect | undefined;
  isStopped = false;
  round = 0;
  readonly attempts: Attempt[] = [];

  constructor(private readonly kind: keyof typeof KINDS) {}

  /** Every move that is possible now, by name. */
  moves(): Map<string, () => void> {
    const moves = new Map<string, () => void>();
    const { effect } = this;
    if (effect === undefined || effect.reason === 'authorization-expired') {
      moves.set('permit', () => this.authorize(this.round + 1, 60_000));
      moves.set('late permit', () => this.authorize(this.round + 1, -60_000));
    }
    for (let round = 1; round <= this.round; round += 1)
      moves.set(`permit ${round} again`, () => this.authorize(round, 60_000));
    for (const step of [500, 3_000, 20_000]) moves.set(`${step} ms pass`, () => (this.now += step));
    if (!this.isStopped) moves.set('stop', () => (this.isStopped = true));
    for (const attempt of this.attempts) this.#movesOf(attempt, moves);
    if (effect?.isWaiting === true) moves.set('quiet', () => this.#apply(settleWaiting(effect, this.now)));
    if (effect?.state === 'unknown') moves.set('resolve', () => this.#resolve(effect));
    return moves;
  }

  authorize(round: number, validMs: number): void {
    const given = permit({ round, expiresAtMs: this.now + validMs });
    const facts = {
      ...gate({ nowMs: this.now, isStopped: this.isStopped, tool: tool(KINDS[this.kind]) }),
      claim: undefined,
      argumentProblems: [],
    };
    const step = decideAuthorization(given, { ...facts, existing: this.effect });
    this.round = Math.max(this.round, round);
    if (step.kind === 'start' || step.kind === 'close') this.effect = step.effect;
    if (step.kind === 'start') this.#start(step.effect);
  }

  #start({ attempt: n, timeoutMs }: Effect): void {
    const state = {
      isSent: false,
      hasActed: false,
      hasRefused: false,
      isTakenForDead: false,
      isReported: false,
      isTold: false,
    };
    this.attempts.push({ n, startedAt: this.now, timeoutMs, ...state });
  }

  #movesOf(attempt: Attempt, moves: Map<string, () => void>): void {
    const name = `attempt ${attempt.n} of ${attempt.startedAt}`;
    const isSilent = attempt.isReported;
    const report = (end: AttemptEnd) => () => {
      attempt.isReported = true;
      this.#settle(attempt.n, end);
    };
    const canSend = this.now <= attempt.startedAt + DISPATCH_BY_MS;
    const canAct = this.now <= attempt.startedAt + DISPATCH_BY_MS + attempt.timeoutMs;
    if (!attempt.isSent && !attempt.isReported && canSend) moves.set(`${name} is sent`, () => this.#send(attempt));
    if (!attempt.isSent && !isSilent && !canSend)
      moves.set(`${name} was not sent`, report({ kind: 'not-sent', reason: 'late', isRetryable: true }));
    if (attempt.isSent && canAct && !attempt.hasActed && !attempt.hasRefused) {
      moves.set(`${name} acts`, () => this.#act(attempt));
      if (this.effects === 0) moves.set(`${name} refuses`, () => (attempt.hasRefused = true));
    }
    if (attempt.isSent && !isSilent) {
      if (attempt.hasActed) moves.set(`${name} answers`, report({ kind: 'succeeded', result: OK }));
      if (attempt.hasActed)
        moves.set(`${name} answers oddly`, report({ kind: 'unusable', reason: 'lossy', result: OK }));
      if (attempt.hasRefused)
        moves.set(`${name} answers no`, report({ kind: 'refused', reason: 'tool-error', result: OK }));
      if (this.isStopped) moves.set(`${name} is aborted`, report({ kind: 'silent', reason: 'aborted' }));
      if (!canAct) moves.set(`${name} times out`, report({ kind: 'silent', reason: 'timeout' }));
    }
    if (!isSilent) moves.set(`${name} is taken for dead`, () => (attempt.isTakenForDead = true));
    const mayBeTold = (attempt.n === 1 && this.kind === 'keyed') || !canAct;
    if (attempt.isTakenForDead && !attempt.isReported && !attempt.isTold && mayBeTold)
      moves.set(`${name} is told lost`, () => {
        attempt.isTold = true;
        this.#settle(attempt.n, { kind: 'lost' });
      });
  }

  /** What could still have a first effect is not sent once the end of the call was told; the same key again has none. */
  #send(attempt: Attempt): void {
    attempt.isSent = true;
    const isOver = this.effect === undefined || !isOpen(this.effect);
    if (isOver && this.effects === 0) throw new Error(`sent when ${this.effect?.state} was told`);
  }

  #act(attempt: Attempt): void {
    attempt.hasActed = true;
    if (this.kind === 'unkeyed' || this.effects === 0) this.effects += 1;
  }

  #settle(n: number, end: AttemptEnd): void {
    if (this.effect !== undefined)
      this.#apply(settleAttempt(this.effect, n, end, { nowMs: this.now, isStopped: this.isStopped }));
  }

  #apply(step: SettleStep): void {
    if (step.kind !== 'stale') this.effect = step.effect;
    if (step.kind === 'repeat') this.#start(step.effect);
  }

  #resolve(effect: Effect): void {
    try {
      this.effect = resolveUnknown(effect, this.effects > 0 ? 'happened' : 'not-happened', this.now) ?? effect;
    } catch {
      return;
    }
  }

  check(): void {
    const state = this.effect?.state;
    const isDenied = state === 'failed' || state === 'not-dispatched' || state === 'not-happened';
    const isAffirmed = state === 'succeeded' || state === 'happened';
    const isTrue = this.effects <= 1 && !(isDenied && this.effects > 0) && !(isAffirmed && this.effects === 0);
    if (!isTrue) throw new Error(`told ${state}, with ${this.effects} effects`);
  }

  /** Lets everything that is under way come to its end. */
  finish(): void {
    for (let n = 0; n < 50 && this.effect !== undefined && isOpen(this.effect); n += 1) {
      this.now += 20_000;
      const next = [...this.moves()].find(([name]) => /told lost|quiet|times out|was not sent/.test(name));
      next?.[1]();
      this.check();
    }
    if (this.effect !== undefined && isOpen(this.effect)) throw new Error('the call comes to no end');
  }
}

describe.each([
  ['a keyed', 'keyed'],
  ['an unkeyed', 'unkeyed'],
] as const)('%s call, whatever happens', (_, kind) => {
  it('has at most one effect, is never told not to have acted when it did, and comes to an end', () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 5, maxLength: 40 }), (choices) => {
        const world = new World(kind);
        for (const choice of choices) {
          const moves = [...world.moves().values()];
          moves[choice % moves.length]?.();
          world.check();
        }
        world.finish();
        states.add(world.effect?.state ?? 'none');
      }),
      { numRuns: 3_000 },
    );
    expect([...states]).toEqual(
      expect.arrayContaining(['succeeded', 'failed', 'unknown', 'not-dispatched', 'happened', 'not-happened']),
    );
  });
});
