import type {
  AgentDefinition,
  EventData,
  Label,
  ModelReply,
  Price,
  Principal,
  RecordedInput,
  Usage,
} from '@lineclear/contracts';

/** Events of other services that a run takes in. */
export type RunInputEventName =
  | 'toolset.resolved'
  | 'memory.recalled'
  | 'tool-call.denied'
  | 'tool-call.referred'
  | 'tool-call.authorized'
  | 'approval.granted'
  | 'approval.denied'
  | 'approval.expired'
  | 'approval.withdrawn'
  | 'tool-call.completed'
  | 'tool-call.resolved'
  | 'run.fenced';

/** CAUTION: names of timer rows; each is unique within its run. */
export const RUN_TIMERS = ['recall', 'wall', 'active', 'unknown', 'stop'] as const;
export type RunTimer = (typeof RUN_TIMERS)[number];

/** CAUTION: persisted in `inputs`. `drop`: an operator dropped a held input of this run, so an answer is gone for good. */
export const RUN_COMMANDS = ['cancel', 'drop'] as const;
export type RunCommand = (typeof RUN_COMMANDS)[number];

/** Why a task is not accepted, in the words of the error grammar; `reason` is a code of docs/reference/errors.md. */
export interface TaskRefusal {
  readonly reason: string;
  readonly where: string;
  readonly seen: string;
  readonly expected: string;
  readonly next: string;
}

/** What the shell resolved from a valid task: everything that `run.started` records, so that replay needs nothing but events. */
export interface AcceptedTask {
  readonly definition: AgentDefinition;
  readonly principal: Principal;
  /** null: the model has no price */
  readonly price: Price | null;
  readonly input: Readonly<Record<string, unknown>>;
  readonly label: Label;
  readonly conversationId?: string | undefined;
  readonly taskType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/**
 * How one attempt of a model call ended. `usage` absent (or marked estimated): the core charges its own stated estimate.
 * `lost`: the owner died, the attempt may have been billed. `not-dispatched`: nothing was sent, nothing is charged.
 * `failed`: the gateway's retries are spent.
 */
export type ModelOutcome =
  | { readonly status: 'succeeded'; readonly reply: ModelReply; readonly usage?: Usage | undefined }
  | { readonly status: 'malformed'; readonly reason: string; readonly usage?: Usage | undefined }
  | { readonly status: 'failed'; readonly reason: string; readonly usage?: Usage | undefined }
  | { readonly status: 'lost' }
  | { readonly status: 'not-dispatched' };

interface InputBase {
  readonly id: string;
  /** the batch's database time, ISO 8601 with milliseconds and Z */
  readonly at: string;
}

/** `id` is the CloudEvents id of the task. */
export interface TaskInput extends InputBase {
  readonly kind: 'task';
  readonly runId: string;
  readonly taskSource: string;
  /** SHA-256 of the task's raw data bytes */
  readonly payloadHash: string;
  readonly submission: AcceptedTask | TaskRefusal;
}

export type EventInputOf<N extends RunInputEventName> = {
  [K in N]: InputBase & {
    readonly kind: 'event';
    readonly name: K;
    /** the service, as in the envelope */
    readonly source: string;
    readonly data: EventData<K>;
  };
}[N];

export interface TimerFired extends InputBase {
  readonly kind: 'timer';
  readonly name: RunTimer;
}

export interface CommandReceived extends InputBase {
  readonly kind: 'command';
  readonly name: RunCommand;
  /** cancel: `{reason?: string}`; drop: `{name, id, reason}` of the dropped event */
  readonly payload: Readonly<Record<string, unknown>>;
  /** subject of the principal, or `platform` */
  readonly by: string;
}

/** The result of one attempt of a model call; `id` is the job's id. */
export interface ModelCallEnded extends InputBase {
  readonly kind: 'job';
  readonly step: number;
  readonly attempt: number;
  readonly outcome: ModelOutcome;
}

/** Everything that can happen to a run. */
export type RunInput = TaskInput | EventInputOf<RunInputEventName> | TimerFired | CommandReceived | ModelCallEnded;

/** What `inputs` of the next event says about an input; together with the archived events it gives the input back (replay.ts). */
export function recordOf(input: RunInput): RecordedInput {
  const { id, at } = input;
  switch (input.kind) {
    case 'task':
      return { kind: 'task', id, at };
    case 'event':
      return { kind: 'event', id, at, source: input.source };
    case 'job':
      return { kind: 'job', id, at, step: input.step, attempt: input.attempt };
    case 'timer':
      return { kind: 'timer', id, at, name: input.name, payload: null };
    case 'command':
      return { kind: 'command', id, at, name: input.name, payload: input.payload, by: input.by };
  }
}
