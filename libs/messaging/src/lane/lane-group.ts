import type { SharedCommits } from './shared-commits.js';
import { type LaneTurns, ROUND_MS, type Taken, type TurnGiver } from './turns.js';

/**
 * Gives lanes of one process their turns, one round after the other. With `shared` the lanes of a round commit together, and what one of them appends its
 * readers handle in the same round; whenever that does not work out each commits by itself, as it would alone.
 */
export class LaneGroup implements TurnGiver {
  readonly #lanes = new Set<LaneTurns>();
  #isAwake = false;
  #isRunning = false;
  #wake: (() => void) | undefined;
  #first = 0;

  constructor(private readonly shared?: SharedCommits) {}

  add(lane: LaneTurns): void {
    this.#lanes.add(lane);
    if (this.#isRunning) return this.awake();
    this.#isRunning = true;
    void this.#run();
  }

  awake(): void {
    this.#isAwake = true;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (this.#lanes.size > 0) {
      await this.#once([...this.#lanes].filter((lane) => !lane.isStopping));
      for (const lane of this.#lanes) if (lane.isStopping) await this.#finish(lane);
    }
    this.#isRunning = false;
    await this.shared?.close();
  }

  async #finish(lane: LaneTurns): Promise<void> {
    this.#lanes.delete(lane);
    await lane.finish();
  }

  async #once(lanes: readonly LaneTurns[]): Promise<void> {
    if (lanes.length === 0) return;
    for (const lane of lanes) await lane.prepare();
    const ready = lanes.filter((lane) => lane.isReady);
    const round = this.#take(ready);
    const idle = ready.filter((lane) => round.every((taken) => taken.lane !== lane));
    for (const lane of idle) await lane.keepPositions();
    if (round.length === 0) return await this.#idle(Math.min(...lanes.map((lane) => lane.idleMs)));
    if ((await this.shared?.commit(round, ready)) === true) return;
    for (const { lane, works } of round) await lane.run(works);
  }

  /** Each round another lane comes first, so that none waits for ever. */
  #take(lanes: readonly LaneTurns[]): Taken[] {
    const round: Taken[] = [];
    let leftMs = ROUND_MS;
    this.#first += 1;
    for (let index = 0; index < lanes.length && leftMs > 0; index += 1) {
      const lane = lanes[(this.#first + index) % lanes.length];
      if (lane === undefined) continue;
      const works = lane.take(Math.min(leftMs, lane.options.limits.decideMs));
      if (works.length === 0 && !lane.hasPublished) continue;
      leftMs -= works.length * lane.options.runner.decideMsPerInput;
      round.push({ lane, works });
    }
    return round;
  }

  async #idle(ms: number): Promise<void> {
    if (!this.#isAwake && ms > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, Math.min(ms, 0x7fffffff));
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#isAwake = false;
  }
}
