import { canonicalJson, sha256Hex } from '@lineclear/contracts';

/** One call that was tried and must not be repeated unchanged. */
export interface TriedCall {
  readonly callId: string;
  readonly turn: number;
  readonly write: boolean;
}

/** By `repeatKeyOf` a call. `unknown` (to the call's id): outcome not known, refused until resolved, whatever happens in between. */
export interface Tried {
  readonly recent: ReadonlyMap<string, TriedCall>;
  readonly unknown: ReadonlyMap<string, string>;
}

/** Calls remembered; a loop over more different calls than this is left to the budgets. */
const MAX_TRIED = 128;

export const NOTHING_TRIED: Tried = { recent: new Map(), unknown: new Map() };

/** Same tool, same canonical arguments. */
export function repeatKeyOf(tool: string, args: Readonly<Record<string, unknown>>): string {
  return sha256Hex(`${tool}\n${canonicalJson(args)}`).slice(0, 32);
}

export function remember(tried: Tried, key: string, call: TriedCall): Tried {
  const recent = new Map(tried.recent);
  recent.delete(key);
  recent.set(key, call);
  if (recent.size > MAX_TRIED) recent.delete(recent.keys().next().value ?? key);
  return { ...tried, recent };
}

/** It may be proposed again at once. */
export function forget(tried: Tried, key: string): Tried {
  if (!tried.recent.has(key)) return tried;
  const recent = new Map(tried.recent);
  recent.delete(key);
  return { ...tried, recent };
}

/** A write changed something: everything else may be asked anew; the write itself may not. */
export function forgetOthers(tried: Tried, key: string, write: TriedCall): Tried {
  return { ...tried, recent: new Map([[key, write]]) };
}

/** The context no longer holds the results of these turns: reads may be repeated. */
export function forgetCleared(tried: Tried, turns: readonly number[]): Tried {
  return {
    ...tried,
    recent: new Map([...tried.recent].filter(([, call]) => call.write || !turns.includes(call.turn))),
  };
}

export function banUnknown(tried: Tried, key: string, callId: string): Tried {
  return { ...tried, unknown: new Map(tried.unknown).set(key, callId) };
}

/** The outcome is known now. `happened` false: nothing was done, so that it may be tried again. */
export function liftUnknown(tried: Tried, callId: string, happened: boolean): Tried {
  const entry = [...tried.unknown].find(([, banned]) => banned === callId);
  if (entry === undefined) return tried;
  const unknown = new Map(tried.unknown);
  unknown.delete(entry[0]);
  const lifted = { ...tried, unknown };
  return happened ? lifted : forget(lifted, entry[0]);
}
