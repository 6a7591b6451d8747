import { encodeHeaders, eventType, shardOf, type Topic } from '@lineclear/contracts';
import { InvalidMessageError } from '@lineclear/errors';
import { eventually } from '@lineclear/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import { REDRIVE_HELD } from '../held/held-commands.js';
import type { Lane } from '../lane/lane.js';
import { emitter, Tallies, type TallyEvent } from './tally.testsuite.js';
import type { Bus, BusRecord } from './bus.js';

export type RawRecord = Omit<BusRecord, 'offset' | 'event'>;

/** Two services and a bus, each test its own. The suite knows no more of the adapter than this. */
export interface BusWorld {
  /** Most bytes that a lane may be given to queue before reading waits. */
  readonly queuedBytesLimit: number;
  /** Starts a service as a process of its own would. @param wrap what its bus is wrapped in */
  startProducer(): Promise<Lane>;
  startConsumer(tallies: Tallies, wrap?: (bus: Bus) => Bus): Promise<Lane>;
  /** Ends a lane, in order. */
  stop(lane: Lane): Promise<void>;
  /** Ends everything as kill -9 would. */
  crash(): Promise<void>;
  /** Writes a record that no lane has written. Only in a world without a producer. */
  publishRaw(record: RawRecord): Promise<unknown>;
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>;
  close(): Promise<void>;
}

export interface BusUnderTest {
  readonly name: string;
  /** one loop gives producer and consumer their turns, so that a handler that stands still holds up both */
  readonly isOneLoop?: boolean;
  readonly open: (options: { readonly hasProducer: boolean }) => Promise<BusWorld>;
}

const KEYS = Array.from({ length: 12 }, (_, index) => `k${index}`);

/** `rounds` events on each topic of each key, numbered from `from`. */
function events(keys: readonly string[], from: number, rounds: number, pad = 0): TallyEvent[] {
  const list: TallyEvent[] = [];
  for (let n = from; n < from + rounds; n++)
    for (const key of keys) list.push({ topic: 'policies', key, n, pad }, { topic: 'policy', key, n, pad });
  return list;
}

const emit = (lane: Lane, list: readonly TallyEvent[]) => emitter.send(lane, list);

/** What every bus must keep: exactly one state change per event, in order per key and topic, none lost, and none that stops the others. */
export function describeBus({ name, open, isOneLoop = false }: BusUnderTest): void {
  const worlds: BusWorld[] = [];

  async function world(hasProducer = true): Promise<BusWorld> {
    const opened = await open({ hasProducer });
    worlds.push(opened);
    return opened;
  }

  async function running(wrap?: (bus: Bus) => Bus) {
    const opened = await world();
    const tallies = new Tallies(opened);
    const producer = await opened.startProducer();
    const consumer = await opened.startConsumer(tallies, wrap);
    return { world: opened, tallies, producer, consumer };
  }

  afterEach(async () => {
    await Promise.all(worlds.splice(0).map((opened) => opened.close()));
  });

  describe(`${name}`, { timeout: 90_000 }, () => {
    it('changes the state once per event, in order per key and topic', async () => {
      const { producer, tallies } = await running();
      for (let round = 1; round <= 10; round++) await emit(producer, events(KEYS, round, 1));
      expect(await tallies.faults(KEYS, 10)).toEqual([]);
    });

    it('gives all to a consumer that joins when the producer has gone', async () => {
      const opened = await world();
      const tallies = new Tallies(opened);
      const producer = await opened.startProducer();
      await emit(producer, events(KEYS, 1, 10));
      await opened.startConsumer(tallies);
      expect(await tallies.faults(KEYS, 10)).toEqual([]);
      await opened.stop(producer);
      const again = await opened.startProducer();
      await emit(again, events(KEYS, 11, 1));
      expect(await tallies.faults(KEYS, 11)).toEqual([]);
    });

    it('loses nothing while the consumer is stopped', async () => {
      const { world: opened, producer, consumer, tallies } = await running();
      await emit(producer, events(KEYS, 1, 5));
      await opened.stop(consumer);
      await emit(producer, events(KEYS, 6, 5));
      await opened.startConsumer(tallies);
      await emit(producer, events(KEYS, 11, 5));
      expect(await tallies.faults(KEYS, 15)).toEqual([]);
    });

    it('loses and repeats nothing when both are killed under load', async () => {
      const { world: opened, producer, tallies } = await running();
      for (let n = 1; n <= 5; n++) await emit(producer, events(KEYS, n, 1));
      await eventually(async () => (await tallies.read()).size > 0);
      await opened.crash();
      await opened.startConsumer(tallies);
      const next = await opened.startProducer();
      await emit(next, events(KEYS, 6, 5));
      expect(await tallies.faults(KEYS, 10)).toEqual([]);
    });

    it('changes no state twice when it was committed and never acknowledged', async () => {
      const { world: opened, producer, consumer, tallies } = await running(withoutAcknowledge);
      await emit(producer, events(KEYS, 1, 5));
      expect(await tallies.faults(KEYS, 5)).toEqual([]);
      await opened.stop(consumer);
      await opened.startConsumer(tallies);
      await emit(producer, events(KEYS, 6, 5));
      expect(await tallies.faults(KEYS, 10)).toEqual([]);
    });

    it('holds a message that fails with all later ones of its key, lets the others pass, and goes on in order after a redrive', async () => {
      const { world: opened, producer, consumer, tallies } = await running();
      const neighbour = neighbourOf('bad');
      tallies.refuse('bad', 3, new InvalidMessageError('invalid-message', 'not yet'));
      for (let n = 1; n <= 6; n++) await emit(producer, events(['bad', neighbour], n, 1));
      expect(await tallies.faults([neighbour], 6)).toEqual([]);
      await eventually(async () => (await heldOf(opened, 'bad'))?.state === 'parked');
      expect((await tallies.read()).get('bad')?.filter(({ n }) => n >= 3) ?? []).toEqual([]);
      tallies.refuse('bad', 3, undefined);
      await redriveAll(opened, consumer, 'bad');
      expect(await tallies.faults(['bad', neighbour], 6)).toEqual([]);
    });

    it('carries large batches and large events', async () => {
      const { producer, tallies } = await running();
      await emit(producer, events(KEYS, 1, 60));
      await emit(producer, events(['large'], 1, 2, 200_000));
      expect(await tallies.faults(KEYS, 60)).toEqual([]);
      expect(await tallies.faults(['large'], 2)).toEqual([]);
    });

    const standingStill = isOneLoop ? [] : ['stops reading while the consumer stands still, and loses nothing'];
    it.each(standingStill)('%s', async () => {
      const { world: opened, producer, consumer, tallies } = await running();
      const open = tallies.close();
      const perRound = 2 * KEYS.length * 50_000;
      const rounds = Math.ceil((2.5 * opened.queuedBytesLimit) / perRound);
      let most = 0;
      for (let n = 1; n <= rounds; n++) {
        await emit(producer, events(KEYS, n, 1, 50_000));
        most = Math.max(most, consumer.measure().queuedBytesNow);
      }
      await eventually(() => consumer.measure().queuedBytesNow > opened.queuedBytesLimit / 2);
      most = Math.max(most, consumer.measure().queuedBytesNow);
      expect(most).toBeLessThan(opened.queuedBytesLimit + 1.5 * perRound);
      open();
      expect(await tallies.faults(KEYS, rounds)).toEqual([]);
    });

    it('holds what is no event, and handles what follows in the same partition', async () => {
      const opened = await world(false);
      const tallies = new Tallies(opened);
      await opened.startConsumer(tallies);
      const good = 'good';
      const partition = shardOf(good);
      const foreign = (key: string | null, headers: Record<string, string>, value: string | null): RawRecord => ({
        topic: 'policies' satisfies Topic,
        partition,
        key,
        headers,
        value,
      });
      const nameless = neighbourOf(good, 1);
      const other = neighbourOf(good, 2);
      const later = neighbourOf(good, 3);
      const stranger = neighbourOf(good, 4);
      await opened.publishRaw(foreign(nameless, {}, '{}'));
      await opened.publishRaw(foreign(other, headersOf(other, 'e1'), null));
      await opened.publishRaw(foreign(stranger, headersOf(stranger, 'e2'), '{"set":'));
      await opened.publishRaw(foreign(later, { ...headersOf(later, 'e3'), ce_type: 'lineclear.later.v1' }, '{}'));
      await opened.publishRaw(foreign('misplaced', headersOf(elsewhere(partition), 'e4'), valueOf(1)));
      await opened.publishRaw(foreign(good, headersOf(good, 'e5'), valueOf(1)));
      await eventually(async () => (await tallies.read()).get(good)?.length === 1);
      const held = await eventually(async () => {
        const rows = await opened.query<{ code: string }>(
          `SELECT failure::json->>'code' AS code FROM tool_registry.held WHERE state = 'parked'`,
        );
        return rows.length >= 5 && rows;
      });
      expect(held.map(({ code }) => code).sort()).toEqual([
        ...Array<string>(4).fill('invalid-message'),
        'unknown-type',
      ]);
    });
  });
}

/** As if the process always died between the commit and the acknowledgement. */
function withoutAcknowledge(bus: Bus): Bus {
  return {
    positions: bus.positions,
    isExclusive: bus.isExclusive,
    join: async (options) => {
      const membership = await bus.join(options);
      return {
        acknowledge: () => undefined,
        appended: (records) => membership.appended(records),
        ready: () => membership.ready(),
        retake: (shards) => membership.retake(shards),
        drained: () => membership.drained(),
        pause: () => membership.pause(),
        stop: () => membership.stop(),
      };
    },
    stop: () => bus.stop(),
  };
}

/** The first message that is held of a key. */
async function heldOf(world: BusWorld, key: string) {
  const [first] = await world.query<{ id: string; state: string }>(
    'SELECT held_id AS id, state FROM tool_registry.held WHERE key = $1 ORDER BY n LIMIT 1',
    [key],
  );
  return first;
}

async function redriveAll(world: BusWorld, consumer: Lane, key: string): Promise<void> {
  await eventually(async () => {
    const first = await heldOf(world, key);
    const request = { name: REDRIVE_HELD, key, tenant: 'acme', payload: { heldId: first?.id }, by: null };
    if (first?.state === 'parked') await consumer.commands.send(request);
    return first === undefined;
  });
}

/** The n-th other key of the same shard. */
function neighbourOf(key: string, n = 1): string {
  let found = 0;
  for (let i = 0; ; i++) {
    const other = `${key}-${i}`;
    if (shardOf(other) === shardOf(key) && ++found === n) return other;
  }
}

function elsewhere(partition: number): string {
  return shardOf('elsewhere') === partition ? 'elsewhere-too' : 'elsewhere';
}

const headersOf = (key: string, id: string): Record<string, string> =>
  encodeHeaders({
    id,
    source: 'policy-engine',
    type: eventType('policy-set.activated'),
    subject: key,
    time: '2026-11-30T03:00:00.000Z',
    tenant: 'acme',
    correlationid: key,
    confidentiality: 'internal',
    integrity: 'trusted',
  });

const valueOf = (n: number): string => JSON.stringify({ set: 's', version: n, notBeforeVersion: 0, hash: '' });
