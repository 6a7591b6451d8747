import type { EventData, RecordedInput } from '@lineclear/contracts';
import type { CommandAnswer, Decision, Remark } from './decision.js';
import { evolve } from './evolve.js';
import type { Fact, NoteBody, RunEvent, RunEventName } from './fact.js';
import { recordOf, type RunInput } from './input.js';
import { planOf } from './plan.js';
import type { RunState } from './state.js';

/**
 * A decision while it is made: facts are folded as they are recorded, so that each step sees what the one before did.
 * INVARIANT: the input is recorded once, in the first fact; an input that gives no fact was not consumed.
 */
export class Draft {
  private readonly facts: Fact[] = [];
  private folded: RunState | undefined;
  private unrecorded: RecordedInput | undefined;
  private answered: CommandAnswer | undefined;
  private remarked: Remark | undefined;

  constructor(
    readonly input: RunInput,
    private readonly before: RunState | undefined,
  ) {
    this.folded = before;
    this.unrecorded = recordOf(input);
  }

  /** The run as it is now. Throws if there is none: a caller's mistake. */
  get run(): RunState {
    if (this.folded === undefined) throw new Error('no run in this decision');
    return this.folded;
  }

  /** Records a public event with the inputs consumed since the one before. */
  emit<N extends Exclude<RunEventName, 'task.refused'>>(name: N, data: Omit<EventData<N>, 'inputs'>): void {
    const inputs = [...(this.folded?.pending ?? []), ...this.takeInput()];
    const sequence = (this.folded?.sequence ?? 0) + 1;
    this.record({ kind: 'event', name, at: this.input.at, sequence, data: { inputs, ...data } } as unknown as RunEvent);
  }

  refuseTask(data: EventData<'task.refused'>): void {
    this.record({ kind: 'event', name: 'task.refused', at: this.input.at, data });
  }

  note(body: NoteBody): void {
    const [input] = this.takeInput();
    this.record({ kind: 'note', at: this.input.at, ...(input !== undefined && { input }), ...body });
  }

  answer(answer: CommandAnswer): void {
    this.answered = answer;
  }

  /** Says why nothing, or nothing more, happened. */
  remark(kind: Remark['kind'], what: string): void {
    this.remarked = { kind, what };
  }

  decision(): Decision {
    return {
      facts: this.facts,
      state: this.folded,
      plan: planOf(this.before, this.folded, this.input),
      ...(this.answered !== undefined && { answer: this.answered }),
      ...(this.remarked !== undefined && { remark: this.remarked }),
    };
  }

  private record(fact: Fact): void {
    this.facts.push(fact);
    this.folded = evolve(this.folded, fact);
  }

  private takeInput(): RecordedInput[] {
    const taken = this.unrecorded === undefined ? [] : [this.unrecorded];
    this.unrecorded = undefined;
    return taken;
  }
}
