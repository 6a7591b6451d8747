import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '@lineclear/errors';
import type { Consumer, ConsumerRunConfig, Kafka, PartitionAssigner } from 'kafkajs';
import type { Log } from '../../lane/log.js';
import { pauseMs, repeat } from '../repeat.js';
import { consumerSettings } from './kafka-client.js';

export interface ConsumerRunnerOptions {
  readonly kafka: Kafka;
  readonly group: string;
  /** wire names */
  readonly topics: readonly string[];
  readonly assigner: PartitionAssigner;
  readonly run: ConsumerRunConfig;
  /** Called with each new consumer before it connects. */
  readonly created?: (consumer: Consumer) => void;
  /** Called when the topics are known, before the group is joined. @throws ConfigError, which is final */
  readonly subscribed?: () => void;
  readonly crashed?: () => void;
  /** it cannot go on: the topics are not as they must be */
  readonly failed: (error: unknown) => void;
  readonly log: Log;
}

/** Keeps a kafkajs consumer running: joins in the background, survives brokers that are away, replaces a consumer that kafkajs gave up. */
export class ConsumerRunner {
  readonly #stopping = new AbortController();
  #consumer: Consumer | undefined;
  /** since the last answer of a broker */
  #rebuilds = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: ConsumerRunnerOptions) {}

  get consumer(): Consumer | undefined {
    return this.#consumer;
  }

  /** Aborts when `stop` is called. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  start(afterMs = 0): void {
    const { group, topics, failed, log } = this.options;
    const onError = (error: unknown) => {
      if (error instanceof ConfigError) throw error;
      log.warn({ group, topics, error }, 'cannot join the group yet; trying again');
    };
    const signal = this.stopping;
    this.#running = delay(afterMs, undefined, { signal })
      .catch(() => undefined)
      .then(() => repeat(() => this.#connect(), { signal, onError }))
      .catch(failed);
  }

  /** Ends what runs now; `leave` still has to follow. */
  abort(): void {
    this.#stopping.abort();
  }

  /** Leaves the group, within that time: brokers that do not answer find out by the session's time-out. */
  async leave(limitMs: number): Promise<void> {
    const { group, log } = this.options;
    this.abort();
    const left = this.#running
      .then(() => this.#consumer?.disconnect())
      .catch((error: unknown) => log.warn({ group, error }, 'the group was not left in order'));
    const late = Symbol('late');
    if ((await Promise.race([left, delay(limitMs, late, { ref: false })])) === late)
      log.warn({ group }, 'the group was not left in time; the session ends by its time-out');
  }

  /** kafkajs goes on consuming when it is disconnected before `run` has resolved: then it is disconnected again. */
  async #connect(): Promise<void> {
    const { kafka, group, topics, assigner, run, created, subscribed, log } = this.options;
    const settings = consumerSettings(group, () => Promise.resolve(!this.stopping.aborted));
    const consumer = kafka.consumer({ ...settings, partitionAssigners: [assigner] });
    this.#listen(consumer);
    created?.(consumer);
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [...topics], fromBeginning: true });
      subscribed?.();
      this.#consumer = consumer;
      await consumer.run(run);
      if (this.stopping.aborted) await consumer.disconnect();
    } catch (error) {
      await consumer
        .disconnect()
        .catch((reason: unknown) => log.warn({ group, error: reason }, 'a consumer did not disconnect'));
      throw error;
    }
  }

  #listen(consumer: Consumer): void {
    const { FETCH, CRASH } = consumer.events;
    consumer.on(FETCH, () => {
      this.#rebuilds = 0;
    });
    consumer.on(CRASH, ({ payload: { error, restart } }) => {
      const { group, crashed, log } = this.options;
      log.warn({ group, error, restart }, 'the consumer stopped');
      crashed?.();
      if (!restart && !this.stopping.aborted) this.start(pauseMs(this.#rebuilds++, 1));
    });
  }
}
