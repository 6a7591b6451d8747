import { setTimeout as delay } from 'node:timers/promises';
import type { EventData } from '@lineclear/contracts';
import type { NewEvent, StateStore, WriteSet } from '../lane/batch.js';
import type { Lane } from '../lane/lane.js';
import type { LaneInput } from '../lane/input.js';
import type { Handler } from '../lane/registry.js';
import { defineTable } from '../lane/table.js';

/** The n-th event of a key on a topic; `pad` makes its data that many characters longer. */
export interface TallyEvent {
  readonly topic: 'policies' | 'policy';
  readonly key: string;
  readonly n: number;
  readonly pad?: number;
}

interface Tally {
  readonly history: readonly Pick<TallyEvent, 'topic' | 'n'>[];
  readonly version: number;
}

const TALLY = defineTable({
  name: 'tally',
  columns: { key: 'text', history: 'text', version: 'int' },
  key: ['key'],
  version: 'version',
});

const STORE: StateStore<Tally> = {
  name: 'tally',
  load: async (keys, read) => {
    const rows = await read.query<{ key: string; history: string; version: number }>(
      'SELECT key, history, version FROM tally WHERE key = ANY($1)',
      [keys],
    );
    return new Map(
      rows.map(({ key, history, version }) => [key, { version, history: JSON.parse(history) as Tally['history'] }]),
    );
  },
};

export class TallyTable1764400000001 {
  readonly name = 'TallyTable1764400000001';

  async up(runner: { query(statement: string): Promise<unknown> }): Promise<void> {
    await runner.query('CREATE TABLE tally (key text PRIMARY KEY, history text NOT NULL, version int NOT NULL)');
  }

  async down(runner: { query(statement: string): Promise<unknown> }): Promise<void> {
    await runner.query('DROP TABLE tally');
  }
}

/** The service that writes: it emits what it is told by a command. */
export const emitter = {
  handlers: [
    {
      name: 'emitter',
      patterns: { commands: ['emit'] },
      batch: false,
      handle: (input, { writes }) => {
        if (input.kind !== 'command') return;
        for (const event of input.payload as readonly TallyEvent[]) writes.emit(newEvent(event));
      },
    },
  ] satisfies Handler[],

  /** Resolves when the events are committed. */
  async send(lane: Lane, events: readonly TallyEvent[]): Promise<void> {
    const answer = await lane.commands.send({
      name: 'emit',
      key: 'emitter',
      tenant: 'acme',
      payload: events,
      by: null,
    });
    if (!answer.ok) throw new Error(answer.failure.message);
  },
};

function newEvent({ topic, key, n, pad = 0 }: TallyEvent): NewEvent {
  const filler = 'x'.repeat(pad);
  if (topic === 'policies') {
    const data = { set: key, version: n, notBeforeVersion: 0, hash: filler };
    return { name: 'policy-set.activated', key, tenant: 'acme', data } satisfies NewEvent<'policy-set.activated'>;
  }
  const call = { callId: key, turn: 1, index: 0, round: 1, stage: 'first' as const, tool: 't' };
  const data = { ...call, rules: [], decisionId: `${key}/${n}`, reason: filler, terminal: false, policyVersion: n };
  return { name: 'tool-call.denied', key, tenant: 'acme', data } satisfies NewEvent<'tool-call.denied'>;
}

/** The service that reads: for each key it keeps every event that changed its state, in the order of the changes. */
export class Tallies {
  readonly #refusals = new Map<string, unknown>();
  #gate = Promise.resolve();

  constructor(
    private readonly database: { query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]> },
  ) {}

  readonly handlers: Handler[] = [
    {
      name: 'tallies',
      patterns: { events: ['policy-set.activated', 'tool-call.denied'], inbox: 'tallies' },
      batch: true,
      handle: async (inputs, batch) => {
        await this.#gate;
        await batch.load(STORE, [...new Set(inputs.map(({ key }) => key))]);
        for (const input of inputs)
          batch.attempt(input, (writes) => this.#count(input, batch.state(STORE, input.key), writes));
      },
    },
  ];

  /** From now on the n-th events of that key fail, until `undefined` is given. */
  refuse(key: string, n: number, error: unknown): void {
    this.#refusals.set(`${key}/${n}`, error);
  }

  /** From now on nothing is decided, until what is returned is called. */
  close(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  async read(): Promise<Map<string, Tally['history']>> {
    const rows = await this.database.query<{ key: string; history: string }>(
      'SELECT key, history FROM tool_registry.tally',
    );
    return new Map(rows.map(({ key, history }) => [key, JSON.parse(history) as Tally['history']]));
  }

  /**
   * Waits until these keys have events 1 to `count` on both topics, each once and in order. Resolves with what is wrong: nothing, or at once what
   * no more event can mend, or what is still missing after 30 s.
   */
  async faults(keys: readonly string[], count: number): Promise<string[]> {
    const deadline = performance.now() + 30_000;
    for (;;) {
      const faults = faultsOf(await this.read(), keys, count);
      if (faults.length === 0 || faults.some(({ isFinal }) => isFinal) || performance.now() > deadline)
        return faults.map(({ text }) => text);
      await delay(20);
    }
  }

  #count(input: LaneInput, before: Tally | undefined, writes: WriteSet): void {
    if (input.kind !== 'event') return;
    const event = eventOf(input.name, input.event.data);
    const refusal = this.#refusals.get(`${input.key}/${event.n}`);
    if (refusal !== undefined) throw refusal;
    const { history, version } = before ?? { history: [], version: 0 };
    const after = { history: [...history, event], version: version + 1 };
    const row = { key: input.key, history: JSON.stringify(after.history), version: after.version };
    writes.put(TALLY, row, version);
    writes.setState(STORE, input.key, after);
  }
}

function eventOf(name: string, data: unknown): Pick<TallyEvent, 'topic' | 'n'> {
  if (name === 'tool-call.denied') return { topic: 'policy', n: (data as EventData<'tool-call.denied'>).policyVersion };
  return { topic: 'policies', n: (data as EventData<'policy-set.activated'>).version };
}

function faultsOf(tallies: ReadonlyMap<string, Tally['history']>, keys: readonly string[], count: number) {
  const expected = Array.from({ length: count }, (_, index) => index + 1);
  return keys.flatMap((key) =>
    ['policies', 'policy'].flatMap((topic) => {
      const seen = (tallies.get(key) ?? []).filter((event) => event.topic === topic).map(({ n }) => n);
      const isPrefix = seen.every((n, index) => n === index + 1);
      return isPrefix && seen.length === count
        ? []
        : [
            {
              text: `${topic} of ${key}: ${seen.join()}, expected ${expected.join()}`,
              isFinal: !isPrefix || seen.length > count,
            },
          ];
    }),
  );
}
