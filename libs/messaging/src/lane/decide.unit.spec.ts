import { describe, expect, it } from 'vitest';
import type { DatabaseConfig } from '@lineclear/persistence';
import { BatchWrites } from './batch-writes.js';
import { ColumnCheck } from './column-check.js';
import { LaneConnection } from './connection.js';
import { decideAll } from './decide.js';
import { Decision } from './decision.js';
import type { CommandInput } from './input.js';
import type { Handler } from './registry.js';
import { Shard } from './shard.js';
import { StateCache } from './state-cache.js';
import type { MailboxWork } from './work.js';

const SHARD = new Shard(3, '1');
const connection = new LaneConnection({ schema: 's' } as DatabaseConfig, 'never connected');

/** Calls of handlers: which ids went together, in order. */
class Calls {
  readonly made: string[] = [];

  handler(name: string, fails: (id: string) => boolean = () => false): Handler {
    return {
      name,
      patterns: { commands: [name] },
      batch: true,
      handle: async (inputs, batch) => {
        this.made.push(`${name}: ${inputs.map(({ id }) => id).join(' ')}`);
        for (const input of inputs)
          batch.attempt(input, () => {
            if (fails(input.id)) throw new TypeError('a bug');
          });
      },
    };
  }
}

function work(handler: Handler, id: string, key: string): MailboxWork & { readonly input: CommandInput } {
  const input = {
    kind: 'command',
    id,
    key,
    shard: 3,
    name: handler.name,
    tenant: 't',
    payload: null,
    by: null,
  } as const;
  const row = {
    id,
    shard: 3,
    kind: 'command',
    name: handler.name,
    key,
    tenant: 't',
    payload: 'null',
    by: null,
  } as const;
  const mailbox = { ...row, traceparent: null };
  return { origin: 'mailbox', shard: SHARD, key, bytes: 1, input, handler, traceparent: undefined, tries: 0, mailbox };
}

function newDecision() {
  const writes = new BatchWrites(0, { shards: new Map([[3, SHARD]]), owner: 'me', freeSlots: () => 0 });
  const context = {
    service: 'orchestrator',
    owner: 'me',
    nowMs: 0,
    time: '',
    columns: new ColumnCheck(),
    runsJobs: () => false,
  } as const;
  const nothing = () => undefined;
  const cache = new StateCache(1);
  return new Decision({
    nowMs: 0,
    read: connection,
    cache,
    writes,
    context,
    isReload: false,
    marks: undefined,
    complete: nothing,
    finish: nothing,
  });
}

describe('giving a batch to its handlers', () => {
  it('puts inputs of one handler together, and never a later input of a key before an earlier one', async () => {
    const calls = new Calls();
    const [a, b] = [calls.handler('a'), calls.handler('b')];
    const works = [
      work(a, '1', 'x'),
      work(b, '2', 'x'),
      work(a, '3', 'x'),
      work(a, '4', 'y'),
      work(b, '5', 'y'),
      work(b, '6', 'z'),
    ];
    await decideAll(works, newDecision(), { connection });
    expect(calls.made).toEqual(['a: 1 4', 'b: 6', 'b: 2 5', 'a: 3']);
  });

  it('fails only the inputs that fail, and those a handler forgets', async () => {
    const calls = new Calls();
    const failing = calls.handler('a', (id) => id === '2');
    const forgetful: Handler = { name: 'b', patterns: { commands: ['b'] }, batch: true, handle: async () => undefined };
    const works = [work(failing, '1', 'x'), work(failing, '2', 'y'), work(forgetful, '3', 'z')];
    const decision = newDecision();
    await decideAll(works, decision, { connection });
    expect([...decision.failures.keys()].map(({ input }) => input?.id)).toEqual(['2', '3']);
    expect(decision.fragments.map((fragment) => fragment.work.input?.id)).toEqual(['1']);
  });

  it('fails all that a rejecting handler had not decided', async () => {
    const handler: Handler = {
      name: 'a',
      patterns: { commands: ['a'] },
      batch: true,
      handle: async ([first], batch) => {
        if (first !== undefined) batch.attempt(first, () => undefined);
        throw new TypeError('a bug');
      },
    };
    const decision = newDecision();
    await decideAll(
      ['1', '2', '3'].map((id) => work(handler, id, id)),
      decision,
      { connection },
    );
    expect([...decision.failures.keys()].map(({ input }) => input?.id)).toEqual(['2', '3']);
  });

  it('refuses a decision that is async: its writes would come too late', async () => {
    const handler: Handler = {
      name: 'a',
      patterns: { commands: ['a'] },
      batch: true,
      handle: async (inputs, batch) => {
        for (const input of inputs) batch.attempt(input, (async () => undefined) as unknown as () => void);
      },
    };
    const decision = newDecision();
    await decideAll([work(handler, '1', 'x')], decision, { connection });
    expect([...decision.failures.values()]).toMatchObject([{ code: 'invariant-violated' }]);
  });
});
