/** What a condition looks at. `name` is how the rule's author spells it in full: `arguments.amount_cents`, `tool.write`, `label.integrity`. */
export type Attribute =
  | { readonly kind: 'argument'; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: 'trait' | 'label'; readonly name: string; readonly field: string };

export type ValueType = 'long' | 'string' | 'bool';
export type Scalar = string | number | boolean;

/** `presence` alone asks whether there is a value at all; the others need one of their type. */
export type Test =
  | { readonly kind: 'range'; readonly type: 'long'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'one-of'; readonly type: ValueType; readonly values: readonly Scalar[] }
  | { readonly kind: 'glob'; readonly type: 'string'; readonly pattern: string }
  | { readonly kind: 'presence' };

/**
 * Holds, does not hold, or cannot be judged: when the argument is missing or of another type. `present` (arguments only): `true` makes a
 * missing argument "does not hold", `false` (only with `presence`) holds when it is missing.
 */
export interface Condition {
  readonly attribute: Attribute;
  readonly test: Test;
  readonly present?: boolean;
}

export type Effect = 'allow' | 'ask' | 'deny';

/** What an `ask` rule demands of the approval. */
export interface Demand {
  /** roles, one of which an approver must hold; empty: no demand of this rule */
  readonly approvers: readonly string[];
  readonly fourEyes: boolean;
  readonly expiresMs: number;
  readonly validForMs: number;
}

export interface Rule {
  readonly id: string;
  readonly effect: Effect;
  /** glob on `server.tool` */
  readonly tool: string;
  /** empty: any */
  readonly roles: readonly string[];
  /** in the order of their attributes' names, so that the order in the file means nothing */
  readonly conditions: readonly Condition[];
  /** only for `ask` */
  readonly demand?: Demand;
  /** only for `deny`: the run ends */
  readonly terminal: boolean;
}
