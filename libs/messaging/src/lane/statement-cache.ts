import { InvariantViolationError } from '@lineclear/errors';
import type { LaneConnection } from './connection.js';
import { FENCED, GUARD, type Section, type SectionValues, statementText, statementValues } from './statement.js';
import type { StatementBody } from './statement-parts.js';

/** A shape gets its own plan when it comes again and again; until then it runs as the full shape, with empty parts. */
const USES_BEFORE_NAMED = 3;

/** What one lane wants written: the shards that it must own, and the rows. */
export interface LaneStatement extends StatementBody {
  readonly schema: string;
  readonly fence: SectionValues;
}

interface Shape {
  readonly name: string;
  readonly text: string;
  readonly schemas: readonly string[];
  readonly sections: readonly Section[];
}

/** Sends lane statements under names, so that each shape is planned once per connection. */
export class StatementCache {
  readonly #uses = new Map<string, number>();
  readonly #shapes = new Map<string, Shape>();
  #full: Shape = { name: '', text: '', schemas: [], sections: [] };

  /** @param namedShapes shapes with a plan of their own: each costs memory in the backend */
  constructor(
    private readonly connection: LaneConnection,
    private readonly namedShapes = 16,
  ) {}

  /** Commits these together, or none. @returns the database's time at the end, milliseconds since the epoch */
  async execute(statements: readonly LaneStatement[]): Promise<number> {
    const shape = this.#shapeOf(statements);
    const fences = new Map(statements.map(({ schema, fence }) => [schema, fence]));
    const values = new Map(
      statements.flatMap((statement) =>
        [...statement.values].map(([section, rows]) => [nameOf(section), rows] as const),
      ),
    );
    const isWhole = shape.sections.filter((section) => values.has(nameOf(section))).length === values.size;
    if (!isWhole) throw new InvariantViolationError('invariant-violated', `statement ${shape.name} lacks a part`);
    const list = statementValues(
      shape.schemas.map((schema) => fences.get(schema)),
      shape.sections,
      (section) => values.get(nameOf(section)),
    );
    const [row] = await this.#send(shape, list);
    return row?.now ?? Date.now();
  }

  /** A refused one is sent once more, so that it says what refuses it. Nothing of the first is left. */
  async #send({ name, text, schemas, sections }: Shape, values: (string | number)[]): Promise<{ now: number }[]> {
    try {
      return await this.connection.execute(name, text, values);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return await this.connection.execute(undefined, statementText(schemas, sections, 'names'), values);
    }
  }

  #shapeOf(statements: readonly LaneStatement[]): Shape {
    const id = statements.map(idOf).join(' ');
    const shape = this.#shapes.get(id);
    if (shape !== undefined) return shape;
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    const schemas = statements.map(({ schema }) => schema);
    const sections = statements.flatMap((statement) => statement.sections);
    if (uses < USES_BEFORE_NAMED || this.#shapes.size >= this.namedShapes) return this.#fullWith(schemas, sections);
    const named = { name: `s${this.#shapes.size}`, text: statementText(schemas, sections, 'bare'), schemas, sections };
    this.#shapes.set(id, named);
    return named;
  }

  /** All parts seen so far. CAUTION: a new part gives a new name, as a name is bound to its text for the connection's life. */
  #fullWith(schemas: readonly string[], sections: readonly Section[]): Shape {
    const allSchemas = [...new Set([...this.#full.schemas, ...schemas])];
    const known = new Set(this.#full.sections.map(nameOf));
    const all = [...this.#full.sections, ...sections.filter((section) => !known.has(nameOf(section)))];
    const size = allSchemas.length + all.length;
    if (size === this.#full.schemas.length + this.#full.sections.length) return this.#full;
    this.#full = {
      name: `full${size}`,
      text: statementText(allSchemas, all, 'bare'),
      schemas: allSchemas,
      sections: all,
    };
    return this.#full;
  }
}

/** The database refused a statement because a shard or a row was not as it must be. */
export function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === FENCED || code === GUARD;
}

const idOf = ({ schema, sections }: LaneStatement): string => `${schema}: ${sections.map(({ id }) => id).join(' ')}`;

/** Lanes that come later make sections of their own for the same parts. */
const nameOf = ({ schema, id }: Section): string => `${schema}/${id}`;
