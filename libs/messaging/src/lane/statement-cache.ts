import type { LaneConnection } from './connection.js';
import { type Section, type SectionValues, statementText, statementValues } from './statement.js';

/** Shapes with a plan of their own: each costs memory in the backend. */
const NAMED_SHAPES = 16;
/** A shape gets its own plan when it comes again and again; until then it runs as the full shape, with empty parts. */
const USES_BEFORE_NAMED = 3;

interface Shape {
  readonly name: string;
  readonly text: string;
  readonly sections: readonly Section[];
}

export interface Executed {
  /** the database's time at the end of the statement, milliseconds since the epoch */
  readonly now: number;
}

/** Sends lane statements under names, so that each shape is planned once per connection. */
export class StatementCache {
  readonly #uses = new Map<string, number>();
  readonly #shapes = new Map<string, Shape>();
  #full: Shape = { name: '', text: '', sections: [] };

  constructor(private readonly connection: LaneConnection) {}

  async execute(
    fence: SectionValues,
    sections: readonly Section[],
    values: ReadonlyMap<string, SectionValues>,
  ): Promise<Executed> {
    const shape = this.#shapeOf(sections);
    const list = statementValues(fence, shape.sections, values);
    const [row] = await this.connection.execute<{ now: number }>(shape.name, shape.text, list);
    return { now: row?.now ?? Date.now() };
  }

  #shapeOf(sections: readonly Section[]): Shape {
    const id = sections.map((section) => section.id).join(' ');
    const shape = this.#shapes.get(id);
    if (shape !== undefined) return shape;
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    if (uses < USES_BEFORE_NAMED || this.#shapes.size >= NAMED_SHAPES) return this.#fullWith(sections);
    const named = {
      name: `s${this.#shapes.size}`,
      text: statementText(this.connection.schema, sections),
      sections: [...sections],
    };
    this.#shapes.set(id, named);
    return named;
  }

  /** All parts seen so far. CAUTION: a new part gives a new name, as a name is bound to its text for the connection's life. */
  #fullWith(sections: readonly Section[]): Shape {
    const known = new Set(this.#full.sections.map(({ id }) => id));
    const added = sections.filter(({ id }) => !known.has(id));
    if (added.length === 0 && this.#full.name !== '') return this.#full;
    const all = [...this.#full.sections, ...added];
    this.#full = { name: `full${all.length}`, text: statementText(this.connection.schema, all), sections: all };
    return this.#full;
  }
}
