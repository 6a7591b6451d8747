import { randomUUID } from 'node:crypto';
import { decodeCloudEvent, derivedId, runIdOf, sha256Hex } from '@lineclear/contracts';
import { eventually, kafkaAvailability, sharedKafka } from '@lineclear/test-kit';
import type { Admin, IHeaders, Producer } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NewCommand } from '../../lane/batch.js';
import { SILENT } from '../../lane/log.js';
import { kafkaClient, PRODUCER_SETTINGS } from './kafka-client.js';
import { createTopics, deleteTopics } from './kafka-world.testsuite.js';
import { TaskIngress, type TaskRecord } from './task-ingress.js';
import { TopicNames } from './topics.js';

/** of all topics of this file */
const PREFIX = `t${randomUUID().slice(0, 8)}.`;
const availability = await kafkaAvailability();

/** Commands by their id, as the mailbox keeps them; `isAway` makes it a database that cannot be reached. */
class MailboxTable {
  readonly commands = new Map<string, NewCommand>();
  posts = 0;
  given = 0;
  isAway = false;

  post(commands: readonly NewCommand[]): Promise<void> {
    this.posts += 1;
    this.given += commands.length;
    if (this.isAway) return Promise.reject(new Error('away'));
    for (const command of commands) if (!this.commands.has(command.id)) this.commands.set(command.id, command);
    return Promise.resolve();
  }

  named(name: string): NewCommand[] {
    return [...this.commands.values()].filter((command) => command.name === name);
  }
}

function toCommand({ partition, offset, headers, value }: TaskRecord): NewCommand {
  try {
    const { attributes, dataText } = decodeCloudEvent(headers, value, { binding: 'kafka' });
    const key = runIdOf('acme', attributes.source, attributes.id);
    return {
      id: derivedId(key, sha256Hex(dataText)),
      name: 'submit',
      key,
      tenant: 'acme',
      payload: attributes.id,
      by: null,
    };
  } catch (error) {
    const place = `${partition}/${offset}`;
    return { id: place, name: 'refuse', key: place, tenant: 'acme', payload: String(error), by: null };
  }
}

const headersOf = (id: string): IHeaders => ({
  ce_specversion: '1.0',
  ce_id: id,
  ce_source: '/erp',
  ce_type: 'lineclear.task.submit.v1',
});

describe.skipIf(availability.kind === 'missing')('the ingress of tasks', { timeout: 60_000 }, () => {
  let admin: Admin;
  let producer: Producer;
  const running: TaskIngress[] = [];

  beforeAll(async () => {
    const kafka = kafkaClient({ brokers: await sharedKafka(), clientId: 'test', log: SILENT });
    admin = kafka.admin();
    producer = kafka.producer(PRODUCER_SETTINGS);
    await Promise.all([admin.connect(), producer.connect()]);
  });

  afterEach(() => Promise.all(running.splice(0).map((ingress) => ingress.stop())));
  afterAll(async () => {
    await deleteTopics(admin, PREFIX);
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  async function open() {
    const prefix = `${PREFIX}${randomUUID().slice(0, 4)}.`;
    const names = new TopicNames(prefix);
    await createTopics(admin, names, ['tasks']);
    const mailbox = new MailboxTable();
    const start = async () => {
      const brokers = await sharedKafka();
      const ingress = new TaskIngress({
        brokers,
        clientId: 'test',
        prefix,
        commands: mailbox,
        toCommand,
        failed: () => undefined,
      });
      running.push(ingress);
      ingress.start();
      return ingress;
    };
    const send = (partition: number, headers: IHeaders, value: string | Buffer | null) =>
      producer.send({ topic: names.wire('tasks'), messages: [{ partition, key: 'any', headers, value }] });
    return { mailbox, start, send };
  }

  it('takes tasks of any client from any partition in both modes, and turns the rest into refusals', async () => {
    const { mailbox, start, send } = await open();
    await send(0, headersOf('t1'), '{"agent":"a"}');
    await send(7, headersOf('t2'), '{"agent":"a"}');
    const event = {
      specversion: '1.0',
      id: 't3',
      source: '/erp',
      type: 'lineclear.task.submit.v1',
      data: { agent: 'a' },
    };
    await send(7, { 'content-type': 'application/cloudevents+json' }, JSON.stringify(event));
    await send(7, headersOf('t4'), null);
    await send(7, headersOf('t5'), 'not json');
    await send(8, {}, '{}');
    await send(8, headersOf('t6'), Buffer.from([0x22, 0xff, 0x22]));
    await start();
    await eventually(() => mailbox.commands.size === 7, { timeoutMs: 30_000 });
    expect(new Set(mailbox.named('submit').map(({ payload }) => payload))).toEqual(new Set(['t1', 't2', 't3']));
    expect(
      mailbox
        .named('refuse')
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['7/2', '7/3', '8/0', '8/1']);
  });

  it('submits a task once however often it comes, and its other payload apart', async () => {
    const { mailbox, start, send } = await open();
    await send(0, headersOf('t1'), '{"n":1}');
    await send(5, headersOf('t1'), '{"n":1}');
    await send(5, headersOf('t1'), '{"n":2}');
    await send(5, headersOf('last'), '{}');
    await start();
    await eventually(() => mailbox.named('submit').some(({ payload }) => payload === 'last'), { timeoutMs: 30_000 });
    await eventually(() => mailbox.commands.size === 3);
    expect(new Set(mailbox.named('submit').map(({ key }) => key)).size).toBe(2);
  });

  it('goes on after a restart where it was, having handed in all before', async () => {
    const { mailbox, start, send } = await open();
    await send(0, headersOf('t1'), '{}');
    const first = await start();
    await eventually(() => mailbox.commands.size === 1, { timeoutMs: 30_000 });
    await first.stop();
    await send(0, headersOf('t2'), '{}');
    await start();
    await eventually(() => mailbox.commands.size === 2, { timeoutMs: 30_000 });
    expect(mailbox.given).toBe(2);
  });

  it('keeps its place while the mailbox cannot be reached, and reads again what was not handed in', async () => {
    const { mailbox, start, send } = await open();
    mailbox.isAway = true;
    await send(0, headersOf('t1'), '{}');
    const first = await start();
    await eventually(() => mailbox.posts > 2, { timeoutMs: 30_000 });
    await first.stop();
    mailbox.isAway = false;
    await start();
    await eventually(() => mailbox.commands.size === 1, { timeoutMs: 30_000 });
    expect(mailbox.named('submit').map(({ payload }) => payload)).toEqual(['t1']);
  });
});
