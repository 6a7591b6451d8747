import { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS, type ToolTraits } from '@lineclear/contracts';
import type { Scalar, ValueType } from './rule.js';

/** A value that a rule may ask for; `values` when there are only these. */
export interface Field {
  readonly type: ValueType;
  readonly values?: readonly Scalar[];
}

type ComparableTrait = Exclude<keyof ToolTraits, 'businessKey'>;

const TRAIT_FIELDS: Readonly<Record<ComparableTrait, Field>> = {
  write: { type: 'bool' },
  repeatable: { type: 'bool' },
  leavesSystem: { type: 'bool' },
  key: { type: 'string', values: ['honoured', 'none'] },
  timeoutMs: { type: 'long' },
  unknownWaitMs: { type: 'long' },
};

const LABEL_FIELDS: Readonly<Record<string, Field>> = {
  confidentiality: { type: 'string', values: CONFIDENTIALITY_LEVELS },
  integrity: { type: 'string', values: INTEGRITY_LEVELS },
};

/** What rules may compare besides arguments; anything else in `tool.` or `label.` is a misspelling. */
export const FIELDS = { trait: TRAIT_FIELDS, label: LABEL_FIELDS } as const satisfies Record<
  string,
  Readonly<Record<string, Field>>
>;

/** Traits of a tool that nothing is known of: for cases in policy files and checks before the catalog is there. Never for real decisions. */
export const ASSUMED_TRAITS: ToolTraits = {
  write: true,
  repeatable: false,
  leavesSystem: false,
  key: 'none',
  timeoutMs: 30_000,
  unknownWaitMs: 30_000,
};
