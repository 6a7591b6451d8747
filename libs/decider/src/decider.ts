/**
 * Business decisions as two pure functions. Time and ids arrive inside the input.
 * `decide` may throw only for a broken rule; an expected "no" is an output. `evolve` never throws for an output of `decide`.
 */
export interface Decider<Input, State, Output> {
  readonly initial: State;
  decide(input: Input, state: State): readonly Output[];
  evolve(state: State, output: Output): State;
}

/** The state after the outputs, in order. */
export function fold<Input, State, Output>(
  decider: Decider<Input, State, Output>,
  outputs: Iterable<Output>,
  from: State = decider.initial,
): State {
  let state = from;
  for (const output of outputs) state = decider.evolve(state, output);
  return state;
}

export interface Played<State, Output> {
  readonly state: State;
  readonly outputs: readonly Output[];
}

/** Decides the inputs one after the other; gives all outputs and the last state. */
export function play<Input, State, Output>(
  decider: Decider<Input, State, Output>,
  inputs: Iterable<Input>,
  from: State = decider.initial,
): Played<State, Output> {
  const all: Output[] = [];
  let state = from;
  for (const input of inputs) {
    const outputs = decider.decide(input, state);
    state = fold(decider, outputs, state);
    all.push(...outputs);
  }
  return { state, outputs: all };
}
