import { deepStrictEqual, throws } from 'node:assert/strict';
import { type Decider, fold, play } from './decider.js';

export interface Then<State, Output> {
  readonly outputs: readonly Output[];
  readonly state: State;
  /** Fails unless exactly these outputs came, in this order. */
  then(expected: readonly Output[]): void;
  /** Fails unless the outputs, seen through `pick`, are these; for outputs of which a test cares about a part. */
  thenSeen<T>(pick: (output: Output) => T, expected: readonly T[]): void;
}

export interface When<Input, State, Output> {
  readonly state: State;
  when(input: Input): Then<State, Output>;
  /** Fails unless deciding the input throws an error that the check accepts. */
  whenThrows(input: Input, check: (error: unknown) => boolean): void;
}

/** Test language: `given(decider, ...inputs).when(input).then(outputs)`. The given inputs are decided, not assumed. */
export function given<Input, State, Output>(
  decider: Decider<Input, State, Output>,
  ...inputs: readonly Input[]
): When<Input, State, Output> {
  const { state } = play(decider, inputs);
  return {
    state,
    when(input) {
      const outputs = decider.decide(input, state);
      return {
        outputs,
        state: fold(decider, outputs, state),
        // oxlint-disable-next-line unicorn/no-thenable -- the word of the test language; it takes outputs and is never awaited
        then: (expected) => deepStrictEqual([...outputs], [...expected]),
        thenSeen: (pick, expected) => deepStrictEqual(outputs.map(pick), [...expected]),
      };
    },
    whenThrows: (input, check) => throws(() => decider.decide(input, state), check),
  };
}
