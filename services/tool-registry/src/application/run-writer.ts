import type { EventData, Label, ToolResult } from '@lineclear/contracts';
import type { WriteSet } from '@lineclear/messaging';
import { writeClaim } from '../adapters/postgres/business-claims.js';
import { effectTableRow } from '../adapters/postgres/effect-row.js';
import { RUN_EFFECTS } from '../adapters/postgres/run-effects-store.js';
import { EFFECT, REFUSED_AUTHORIZATION, RUN_MARK } from '../adapters/postgres/tables.js';
import type { Completion, Effect } from '../domain/effect.js';
import { type RunEffects, withEffect } from '../domain/run-effects.js';

/** What a tool says is untrusted; what the registry says of a call that was not made is its own. */
const FROM_TOOL: Label = { confidentiality: 'internal', integrity: 'untrusted' };
const OWN: Label = { confidentiality: 'internal', integrity: 'trusted' };

/** Position of a call's message in its protocol, as events carry it. */
export interface CallRef {
  readonly callId: string;
  readonly turn: number;
  readonly index: number;
  readonly round: number;
  readonly stage: Effect['stage'];
}

export const refOf = ({ callId, turn, index, round, stage }: CallRef): CallRef => ({
  callId,
  turn,
  index,
  round,
  stage,
});

/** Puts what one input decides about a run into its write set, and keeps the run's state as it goes. */
export class RunWriter {
  constructor(
    readonly writes: WriteSet,
    readonly runId: string,
    readonly tenant: string,
    readonly now: Date,
    private state: RunEffects,
  ) {}

  get run(): RunEffects {
    return this.state;
  }

  mark(change: { readonly stop?: number; readonly toolsetHash?: string }): void {
    this.#set({ ...this.state, tenant: this.state.tenant ?? this.tenant, ...change });
    const { stop, toolsetHash } = this.state;
    this.writes.put(RUN_MARK, { run_id: this.runId, tenant: this.tenant, stop, toolset_hash: toolsetHash });
  }

  /** `isNew`: neither the entry nor a claim of its business key is there; another replica that put one makes the lane decide anew. */
  effect(
    effect: Effect,
    { isNew = false, result }: { readonly isNew?: boolean; readonly result?: ToolResult | undefined } = {},
  ): void {
    const row = effectTableRow(effect, this.runId, result);
    if (isNew) this.writes.insert(EFFECT, row);
    else this.writes.put(EFFECT, row);
    this.#set(withEffect(this.state, effect));
  }

  claim(
    effect: Effect,
    { isNew = false, result }: { readonly isNew?: boolean; readonly result?: ToolResult | undefined } = {},
  ): void {
    writeClaim(this.writes, effect, { runId: this.runId, result, isNew });
  }

  completed(call: CallRef & Pick<Effect, 'tool'>, completion: Completion, facts: Partial<Effect> = {}): void {
    const { status, reason, result, isRetryable } = completion;
    const label = result !== undefined && status !== 'not-dispatched' ? FROM_TOOL : OWN;
    const data: EventData<'tool-call.completed'> = {
      ...refOf(call),
      tool: call.tool,
      status,
      label,
      deduplicated: facts.isDeduplicated ?? false,
      retryable: isRetryable,
      endedAt: this.now.toISOString(),
      ...(reason === undefined ? {} : { reason }),
      ...(result === undefined ? {} : { result }),
      ...(facts.jti === undefined ? {} : { jti: facts.jti }),
      ...(facts.startedAtMs === undefined || facts.startedAtMs === null
        ? {}
        : { startedAt: new Date(facts.startedAtMs).toISOString() }),
    };
    this.writes.emit({ name: 'tool-call.completed', key: this.runId, tenant: this.tenant, data, label });
  }

  /** Records what was presented as a permit and acts on nothing. `id` is the event that brought it. */
  refused(id: string, call: CallRef & Pick<Effect, 'tool'>, reason: string, why: string): void {
    this.writes.insertOnce(REFUSED_AUTHORIZATION, {
      id,
      tenant: this.tenant,
      run_id: this.runId,
      call_id: call.callId,
      round: call.round,
      stage: call.stage,
      tool: call.tool,
      reason,
      why,
      refused_at: this.now,
    });
  }

  #set(state: RunEffects): void {
    this.state = state;
    this.writes.setState(RUN_EFFECTS, this.runId, state);
  }
}
