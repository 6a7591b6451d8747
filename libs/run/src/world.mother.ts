import type { CompletionStatus, EventData } from '@lineclear/contracts';
import { decide } from './decide.js';
import type { Fact, RunEvent } from './fact.js';
import { RUN_TIMERS, type RunInput, type RunTimer } from './input.js';
import {
  type Asked,
  authorized,
  cancel,
  completed,
  definition,
  denied,
  EPOCH_MS,
  event,
  granted,
  modelEnds,
  notApproved,
  type Ref,
  referred,
  reply,
  resolved,
  task,
  toolset,
  USAGE,
} from './run.mother.js';
import type { RunState } from './state.js';

/** Whole numbers below n, the same for the same seed. */
export function dice(seed: number): (n: number) => number {
  let x = (seed * 2654435761 + 12345) >>> 0 || 1;
  return (n) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x = (x ^ (x << 5)) >>> 0;
    return x % n;
  };
}

export interface WorldOptions {
  readonly seed: number;
  readonly steps: number;
  readonly canCancel: boolean;
  readonly toolCalls?: number;
}

type Topic = 'policy' | 'approvals' | 'tools' | 'memory';
type Service = 'policy' | 'approval' | 'registry';

interface Effect {
  readonly ref: Ref;
  round: number;
  status: 'none' | 'intent' | CompletionStatus;
}

/**
 * The other services as small honest models (order kept per topic and reader, nothing across topics, any message may come again), a model that says
 * anything, people who answer in the end, and a clock that jumps to the next timer. One action at a time, chosen by the dice.
 */
export class World {
  state: RunState | undefined;
  readonly facts: Fact[] = [];
  readonly inputs: RunInput[] = [];
  private readonly rnd: (n: number) => number;
  private nowMs = EPOCH_MS;
  private readonly runs: RunEvent[] = [];
  private readonly logs: Record<Topic, RunInput[]> = { policy: [], approvals: [], tools: [], memory: [] };
  private readonly read: Record<Topic, number> = { policy: 0, approvals: 0, tools: 0, memory: 0 };
  private readonly serviceRead: Record<string, number> = {};
  private readonly timers = new Map<RunTimer, number>();
  private readonly jobs = new Map<string, { readonly step: number; readonly attempt: number }>();
  private readonly decided = new Set<string>();
  private readonly pendingApprovals = new Map<string, Ref>();
  private readonly effects = new Map<string, Effect>();
  private stopMark = 0;
  private approvalsStopped = false;
  private cancelled = false;

  constructor(private readonly options: WorldOptions) {
    this.rnd = dice(options.seed);
    const { steps, toolCalls = 6 } = options;
    this.take(task(definition({ steps, toolCalls, wallMs: 1e12, activeMs: 1e12 }, { memory: { recall: 2 } })));
    this.logs.tools.push(toolset());
    if (this.rnd(3) > 0) this.logs.memory.push(event('memory.recalled', { facts: [] }));
  }

  /** Runs to the end; the number of actions taken. Throws when nothing can happen and the run has not ended. */
  run(limit = 3000): number {
    for (let n = 0; n < limit; n++) {
      const actions = this.actions();
      if (actions.length === 0) {
        if (this.state?.finished !== undefined) return n;
        throw new Error(`stuck in ${String(this.state?.stage)}`);
      }
      actions[this.rnd(actions.length)]?.();
    }
    throw new Error('does not end');
  }

  private actions(): (() => void)[] {
    const actions: (() => void)[] = [];
    const add = (possible: boolean, action: () => void, weight = 1) => {
      if (possible) for (let i = 0; i < weight; i++) actions.push(action);
    };
    for (const topic of ['policy', 'approvals', 'tools', 'memory'] as const)
      add(this.read[topic] < this.logs[topic].length, () => this.deliver(topic), 3);
    for (const [service, topic] of READERS)
      add(this.positionOf(service, topic) < this.logOf(topic).length, () => this.serve(service, topic), 3);
    for (const id of this.jobs.keys()) add(true, () => this.endJob(id), 2);
    for (const [key, ref] of this.pendingApprovals) add(true, () => this.person(key, ref));
    for (const effect of this.effects.values()) {
      add(effect.status === 'intent', () => this.settle(effect));
      add(effect.status === 'unknown', () => this.reconcile(effect));
    }
    if (actions.length > 0) {
      add(this.rnd(6) === 0, () => this.deliverAgain());
      add(this.options.canCancel && !this.cancelled && this.rnd(25) === 0, () => this.cancel());
    }
    const due = this.nextTimer();
    add(due !== undefined && (actions.length === 0 || this.rnd(12) === 0), () => this.fire(due ?? 'stop'));
    return actions;
  }

  private take(input: RunInput): void {
    this.inputs.push(input);
    const decision = decide(input, this.state);
    this.state = decision.state;
    this.facts.push(...decision.facts);
    for (const fact of decision.facts) if (fact.kind === 'event') this.runs.push(fact);
    for (const item of decision.plan) {
      if (item.do === 'set-timer') this.timers.set(item.name, item.dueAtMs);
      else if (item.do === 'clear-timer') this.timers.delete(item.name);
      else if (item.do === 'start-model-call') this.jobs.set(item.jobId, item);
      else if (this.rnd(2) === 0) this.jobs.delete(item.jobId);
    }
  }

  private at<I extends RunInput>(input: I): I {
    this.nowMs += this.rnd(50);
    return { ...input, at: new Date(this.nowMs).toISOString() };
  }

  private deliver(topic: Topic): void {
    const message = this.logs[topic][this.read[topic]++];
    if (message !== undefined) this.take(this.at(message));
  }

  private deliverAgain(): void {
    const topic = (['policy', 'approvals', 'tools', 'memory'] as const)[this.rnd(4)] ?? 'policy';
    const message = this.logs[topic][this.rnd(Math.max(1, this.read[topic]))];
    if (message !== undefined && this.read[topic] > 0) this.take(this.at(message));
  }

  private cancel(): void {
    this.cancelled = true;
    this.take(this.at(cancel()));
  }

  /** The wall and active clocks are left out: a run that only they could end is stuck. */
  private nextTimer(): RunTimer | undefined {
    return RUN_TIMERS.filter((name) => name !== 'wall' && name !== 'active' && this.timers.has(name)).toSorted(
      (a, b) => (this.timers.get(a) ?? 0) - (this.timers.get(b) ?? 0),
    )[0];
  }

  private fire(name: RunTimer): void {
    this.nowMs = Math.max(this.nowMs, this.timers.get(name) ?? 0);
    this.timers.delete(name);
    this.take({ kind: 'timer', id: `${name}-${this.nowMs}`, at: new Date(this.nowMs).toISOString(), name });
  }

  private endJob(id: string): void {
    const job = this.jobs.get(id);
    this.jobs.delete(id);
    if (job !== undefined) this.take(this.at({ ...modelEnds(job.step, this.modelSays(), job.attempt), id }));
  }

  private modelSays(): Parameters<typeof modelEnds>[1] {
    switch (this.rnd(12)) {
      case 0:
        return { status: 'lost' };
      case 1:
        return { status: 'malformed', reason: 'glued' };
      case 2:
        return { status: 'not-dispatched' };
      case 3:
        return { status: 'succeeded', reply: { text: 'cut', calls: [], stopReason: 'length' } };
      case 4:
        return this.rnd(4) === 0
          ? { status: 'failed', reason: 'quota' }
          : { status: 'succeeded', reply: reply('done') };
      default: {
        const calls = Array.from({ length: 1 + this.rnd(4) }, () => this.call());
        const usage = this.rnd(3) === 0 ? undefined : { ...USAGE, uncached: this.rnd(400) };
        return { status: 'succeeded', reply: reply('next', calls), usage };
      }
    }
  }

  private call(): Asked {
    const name = ['erp_get', 'erp_post', 'erp_poll', 'erp_send', 'erp_nope'][this.rnd(5)] ?? 'erp_get';
    return [name, this.rnd(8) === 0 ? '{"n":"x"}' : { n: this.rnd(3) }];
  }

  private logOf(topic: string): readonly (RunEvent | RunInput)[] {
    return topic === 'runs' ? this.runs : this.logs[topic as Topic];
  }

  private positionOf(service: Service, topic: string): number {
    return this.serviceRead[`${service}/${topic}`] ?? 0;
  }

  private serve(service: Service, topic: string): void {
    const position = this.positionOf(service, topic);
    this.serviceRead[`${service}/${topic}`] = position + 1;
    const message = this.logOf(topic)[position];
    if (message === undefined || !('name' in message) || !('data' in message)) return;
    if (service === 'policy') this.policy(message.name, message.data as Data);
    else if (service === 'approval') this.approval(message.name, message.data as Data);
    else this.registry(message.name, message.data as Data);
  }

  private policy(name: string, data: Data): void {
    if (name !== 'tool-call.proposed' && name !== 'approval.granted') return;
    const stage = name === 'approval.granted' ? 'approved' : 'first';
    const ref: Ref = { turn: data.turn, index: data.index, round: data.round, stage };
    const key = keyOf(ref) + stage;
    if (this.decided.has(key)) return;
    this.decided.add(key);
    const verdict = this.rnd(10);
    if (verdict === 0) this.logs.policy.push(denied(ref, this.rnd(3) === 0));
    else if (stage === 'first' && verdict < 5) this.logs.policy.push(referred(ref));
    else this.logs.policy.push(authorized(ref, stage === 'approved' && this.rnd(3) === 0 ? { n: 7 } : undefined));
  }

  private approval(name: string, data: Data): void {
    if (name === 'run.stop-started') {
      this.approvalsStopped = true;
      for (const [key, ref] of this.pendingApprovals) {
        this.pendingApprovals.delete(key);
        this.logs.approvals.push(notApproved('approval.withdrawn', ref));
      }
    }
    if (name !== 'tool-call.referred') return;
    const ref: Ref = { turn: data.turn, index: data.index, round: data.round };
    if (this.approvalsStopped) this.logs.approvals.push(notApproved('approval.withdrawn', ref));
    else this.pendingApprovals.set(keyOf(ref), ref);
  }

  private person(key: string, ref: Ref): void {
    this.pendingApprovals.delete(key);
    const names = ['approval.denied', 'approval.expired'] as const;
    const no = names[this.rnd(8)];
    this.logs.approvals.push(no === undefined ? granted(ref) : notApproved(no, ref));
  }

  private registry(name: string, data: Data): void {
    if (name === 'run.stop-started' && data.n > this.stopMark) this.fence(data.n);
    if (name !== 'tool-call.authorized') return;
    const ref: Ref = { turn: data.turn, index: data.index, round: data.round, stage: data.stage };
    const key = `${data.turn}-${data.index}`;
    const effect = this.effects.get(key) ?? { ref, round: 0, status: 'none' };
    if (data.round <= effect.round || (effect.status !== 'none' && effect.status !== 'not-dispatched')) return;
    const next: Effect = { ref, round: data.round, status: 'intent' };
    this.effects.set(key, next);
    const trouble =
      this.stopMark > 0 ? 'run-stopped' : ['authorization-expired', 'policy-outdated', 'tool-disabled'][this.rnd(12)];
    if (trouble !== undefined) this.complete(next, 'not-dispatched', trouble);
  }

  private fence(n: number): void {
    this.stopMark = n;
    const all = [...this.effects.values()];
    const callId = ({ ref }: Effect) => `${String(this.state?.runId)}-${ref.turn}-${ref.index}`;
    const open = all.filter(({ status }) => status === 'intent').map(callId);
    const settled = all.flatMap((effect) =>
      effect.status === 'none' || effect.status === 'intent' ? [] : [{ callId: callId(effect), status: effect.status }],
    );
    this.logs.tools.push(event('run.fenced', { n, open, settled }));
  }

  private settle(effect: Effect): void {
    this.complete(effect, (['succeeded', 'failed', 'unknown'] as const)[this.rnd(3)] ?? 'failed');
  }

  private complete(effect: Effect, status: CompletionStatus, reason?: string): void {
    effect.status = status;
    this.logs.tools.push(
      completed(status, effect.ref, { ...(reason !== undefined && { reason }), retryable: this.rnd(2) === 0 }),
    );
  }

  /** An operator looks it up, sooner, later, or never. */
  private reconcile(effect: Effect): void {
    effect.status = 'succeeded';
    if (this.rnd(3) > 0) this.logs.tools.push(resolved(this.rnd(2) === 0 ? 'happened' : 'not-happened', effect.ref));
  }
}

type Data = EventData<'tool-call.proposed'> & EventData<'run.stop-started'>;

const READERS: readonly (readonly [Service, string])[] = [
  ['policy', 'runs'],
  ['policy', 'approvals'],
  ['approval', 'policy'],
  ['approval', 'runs'],
  ['registry', 'policy'],
  ['registry', 'runs'],
];

const keyOf = ({ turn, index, round }: Ref): string => `${turn}-${index}-${round}-`;
