import type { CallOutcome, EventData, Label, RecordedInput, ToolView } from '@lineclear/contracts';
import type { EventInputOf } from './input.js';
import type { Reservation } from './ledger.js';

/** Events that a run puts on the topic `runs`. */
export type RunEventName =
  | 'task.refused'
  | 'run.started'
  | 'model-call.completed'
  | 'context.cleared'
  | 'tool-call.proposed'
  | 'tool-call.refused'
  | 'run.stop-started'
  | 'run.finished';

/** A public fact. `sequence` counts the run's own events from 1 (absent on task.refused, which is about a task, not about the run). */
export type RunEvent = {
  [N in RunEventName]: {
    readonly kind: 'event';
    readonly name: N;
    readonly at: string;
    readonly sequence?: number;
    readonly data: EventData<N>;
  };
}[RunEventName];

/** Events of other services that answer a call. */
export type CallInput = EventInputOf<
  | 'tool-call.denied'
  | 'tool-call.referred'
  | 'tool-call.authorized'
  | 'approval.granted'
  | 'approval.denied'
  | 'approval.expired'
  | 'approval.withdrawn'
  | 'tool-call.completed'
  | 'tool-call.resolved'
>;

/** One answer to a call: the slot it fills, the event that filled it, and a fingerprint of its data (messaging.md section 4). */
export interface SlotMark {
  readonly slot: string;
  readonly id: string;
  readonly print: string;
}

/** The one result of a call. */
export interface CallResult {
  readonly outcome: CallOutcome;
  /** what the model reads */
  readonly text: string;
  readonly structured?: unknown;
  readonly label?: Label;
  /** an attempt was sent to the tool: costs one tool call */
  readonly executed: boolean;
  /** it changed something outside, by the registry's word */
  readonly effect: boolean;
  /** the model may propose it again unchanged */
  readonly retryable: boolean;
}

/** Private facts: an accepted input that changes the state without an event. CAUTION: persisted; fields may be added, never renamed. */
export type NoteBody =
  | { readonly name: 'toolset-fixed'; readonly id: string; readonly hash: string; readonly tools: readonly ToolView[] }
  /** without `id`: the wait was over */
  | { readonly name: 'recall-joined'; readonly id?: string; readonly facts: EventData<'memory.recalled'>['facts'] }
  | { readonly name: 'recall-late'; readonly id: string }
  | {
      readonly name: 'model-call-reserved';
      readonly jobId: string;
      readonly step: number;
      readonly attempt: number;
      readonly reservation: Reservation;
    }
  | {
      readonly name: 'call-referred';
      readonly callId: string;
      readonly rules: readonly string[];
      readonly mark: SlotMark;
    }
  | { readonly name: 'call-granted'; readonly callId: string; readonly approvalId: string; readonly mark: SlotMark }
  | {
      readonly name: 'call-authorized';
      readonly callId: string;
      readonly rules: readonly string[];
      /** of the approver's arguments, when edited */
      readonly digest?: string;
      readonly arguments?: Readonly<Record<string, unknown>>;
      readonly mark: SlotMark;
    }
  | { readonly name: 'call-unknown'; readonly callId: string; readonly untilMs: number; readonly mark: SlotMark }
  /** an input ahead of its phase */
  | { readonly name: 'input-kept'; readonly callId: string; readonly early: CallInput; readonly mark: SlotMark }
  | {
      readonly name: 'call-closed';
      readonly callId: string;
      readonly result: CallResult;
      readonly rules?: readonly string[];
      readonly mark?: SlotMark;
    }
  | { readonly name: 'fence-noted'; readonly n: number }
  /** of a call that closed as unknown before */
  | { readonly name: 'unknown-resolved'; readonly callId: string; readonly happened: boolean }
  /** changes nothing but the record; `violation`: the slot was filled before with another payload, or there is no such call */
  | { readonly name: 'late' | 'violation'; readonly what: string; readonly callId?: string; readonly mark?: SlotMark };

export type RunNote = NoteBody & {
  readonly kind: 'note';
  readonly at: string;
  /** the input that this note consumed, when it is the first fact of its decision */
  readonly input?: RecordedInput;
};

/** What is stored of a run: fold the facts in order and the state is back. JSON values. */
export type Fact = RunEvent | RunNote;
