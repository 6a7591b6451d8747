import type { Message } from '@lineclear/contracts';
import { AppendLog } from '@lineclear/context';
import { InvalidMessageError } from '@lineclear/errors';
import type { RunState } from './state.js';

/** CAUTION: persisted. A release reads its own format and older ones. */
const FORMAT = 1;

/** Fields that are no plain JSON in memory. */
type Special = 'window' | 'unknownFields';

interface Snapshot {
  readonly format: number;
  readonly state: Omit<RunState, Special>;
  readonly window: { readonly messages: readonly Message[]; readonly tokens: number; readonly clearableTokens: number };
}

/** JSON value of a state. Grows with the window: write it now and then, not each step; facts since are folded on top. */
export function toSnapshot(state: RunState): Record<string, unknown> {
  const { window, unknownFields, ...plain } = state;
  const snapshot: Snapshot = {
    format: FORMAT,
    state: plain,
    window: { ...window, messages: window.messages.toArray() },
  };
  return { ...unknownFields, ...snapshot };
}

/** The state back. Throws InvalidMessageError(`unsupported-version`) for a newer format; fields of a newer release are kept. */
export function fromSnapshot(snapshot: Readonly<Record<string, unknown>>): RunState {
  if (snapshot['format'] !== FORMAT)
    throw new InvalidMessageError(
      'unsupported-version',
      `the snapshot of a run has format \`${String(snapshot['format'])}\`, expected ${FORMAT}`,
    );
  const { format: _format, state, window, ...unknownFields } = snapshot as unknown as Snapshot;
  return {
    ...ABSENT,
    ...state,
    window: { ...window, messages: AppendLog.of(window.messages) },
    unknownFields,
  };
}

/** JSON leaves out what is undefined. */
const ABSENT = {
  toolset: undefined,
  recallId: undefined,
  modelCall: undefined,
  turn: undefined,
  stop: undefined,
  finished: undefined,
} satisfies Partial<RunState>;
