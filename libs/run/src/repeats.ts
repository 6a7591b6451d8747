import { canonicalJson, sha256Hex } from '@lineclear/contracts';

/** One call that was tried and must not be repeated unchanged. */
export interface TriedCall {
  /** `repeatKeyOf` the call */
  readonly key: string;
  readonly callId: string;
  readonly turn: number;
  readonly write: boolean;
}

/** What was tried, oldest first. `unknown`: outcome not known, refused until resolved, whatever happens in between. */
export interface Tried {
  readonly recent: readonly TriedCall[];
  readonly unknown: readonly Pick<TriedCall, 'key' | 'callId'>[];
}

/** Calls remembered; a loop over more different calls than this is left to the budgets. */
const MAX_TRIED = 128;

export const NOTHING_TRIED: Tried = { recent: [], unknown: [] };

/** Same tool, same canonical arguments. */
export function repeatKeyOf(tool: string, args: Readonly<Record<string, unknown>>): string {
  return sha256Hex(`${tool}\n${canonicalJson(args)}`);
}

export function remember(tried: Tried, call: TriedCall): Tried {
  const before = tried.recent.length < MAX_TRIED ? tried.recent : tried.recent.slice(1);
  return { ...tried, recent: [...before, call] };
}

/** It may be proposed again at once. */
export function forget(tried: Tried, key: string): Tried {
  return { ...tried, recent: tried.recent.filter((call) => call.key !== key) };
}

/** A write changed something: everything else may be asked anew; the write itself may not. */
export function forgetOthers(tried: Tried, write: TriedCall): Tried {
  return { ...tried, recent: [write] };
}

/** The context no longer holds the results of these turns: reads may be repeated. */
export function forgetCleared(tried: Tried, turns: readonly number[]): Tried {
  return { ...tried, recent: tried.recent.filter(({ write, turn }) => write || !turns.includes(turn)) };
}

export function banUnknown(tried: Tried, { key, callId }: Pick<TriedCall, 'key' | 'callId'>): Tried {
  return { ...tried, unknown: [...tried.unknown, { key, callId }] };
}

/** The outcome is known now. `happened` false: nothing was done, so that it may be tried again. */
export function liftUnknown(tried: Tried, callId: string, happened: boolean): Tried {
  const banned = tried.unknown.find((call) => call.callId === callId);
  if (banned === undefined) return tried;
  const lifted = { ...tried, unknown: tried.unknown.filter((call) => call !== banned) };
  return happened ? lifted : forget(lifted, banned.key);
}
