import { eventType } from '@lineclear/contracts';
import type { ServerSentEvent } from '@lineclear/host';
import type { ReadHandle } from '@lineclear/messaging';
import { evolve, type Fact, isTerminal, type RunState, statusOf } from '@lineclear/run';

const CHUNK_ROWS = 500;

/**
 * Follows one run: its events from the start, then those to come, each once and in order; between them `run.state` whenever what a reader sees has
 * changed. Reads the stored facts, so it works on any replica. An id is the version of a decision's last fact: a reader that reconnects with it gets
 * whole decisions, never half of one.
 */
export class RunEvents {
  private version = 0;
  private state: RunState | undefined;
  private shown = '';
  private readonly seenVersion: number;

  /** @param lastEventId of the last event that the reader has; what is no such id counts as none */
  constructor(
    private readonly runId: string,
    private readonly handle: ReadHandle,
    lastEventId: string | undefined,
  ) {
    this.seenVersion = lastEventId !== undefined && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : 0;
  }

  /** `run.finished` was given: nothing comes behind it that a reader waits for. */
  get isComplete(): boolean {
    return this.state !== undefined && isTerminal(this.state.stage);
  }

  /** The next events; none when there is nothing new. */
  async read(): Promise<ServerSentEvent[]> {
    for (;;) {
      const rows = await this.handle.query<{ version: number; facts: string }>(
        'SELECT version, facts FROM run_stream WHERE run_id = $1 AND version > $2 ORDER BY version LIMIT $3',
        [this.runId, this.version, CHUNK_ROWS],
      );
      const events = rows.flatMap((row) => this.take(row.version, JSON.parse(row.facts) as Fact[]));
      if (events.length > 0 || rows.length < CHUNK_ROWS) return events;
    }
  }

  private take(firstVersion: number, facts: readonly Fact[]): ServerSentEvent[] {
    for (const fact of facts) this.state = evolve(this.state, fact);
    this.version = firstVersion + facts.length - 1;
    const id = String(this.version);
    const state = this.stateEvent(id);
    if (this.version <= this.seenVersion) return [];
    return [...facts.flatMap((fact) => factEvent(id, fact)), ...state];
  }

  private stateEvent(id: string): ServerSentEvent[] {
    if (!this.state) return [];
    const data = JSON.stringify({ state: statusOf(this.state), turn: this.state.totals.turns });
    if (data === this.shown) return [];
    this.shown = data;
    return [{ id, event: 'run.state', data }];
  }
}

function factEvent(id: string, fact: Fact): ServerSentEvent[] {
  if (fact.kind !== 'event') return [];
  return [{ id, event: eventType(fact.name), data: JSON.stringify({ time: fact.at, data: fact.data }) }];
}
