import type { WireHeaders } from '@lineclear/contracts';
import { type EachBatchPayload, type KafkaMessage, PartitionAssigners } from 'kafkajs';
import type { NewCommand } from '../../lane/batch.js';
import { type Log, SILENT } from '../../lane/log.js';
import type { CommandSender } from '../../mailbox/command-sender.js';
import { pauseMs } from '../repeat.js';
import { Signal } from '../signal.js';
import { ConsumerRunner } from './consumer-runner.js';
import { kafkaClient } from './kafka-client.js';
import { TopicNames } from './topics.js';

/** A record as any client wrote it: nothing of it is believed yet. */
export interface TaskRecord {
  readonly topic: 'tasks';
  readonly partition: number;
  readonly offset: bigint;
  readonly headers: WireHeaders;
  /** null: tombstone */
  readonly value: Uint8Array | null;
}

export interface TaskIngressOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** as the bus has it */
  readonly prefix?: string;
  readonly commands: Pick<CommandSender, 'post'>;
  /** The command that a record becomes; a record that cannot be read becomes a refusal. Must not throw, and derives the id from the record. */
  readonly toCommand: (record: TaskRecord) => NewCommand;
  /** it cannot go on */
  readonly failed: (error: unknown) => void;
  readonly log?: Log;
}

/** CAUTION: holds the positions in `tasks`; another name submits all tasks again, which the runs' owners answer as known. */
const GROUP = 'orchestrator-ingress';
const STOP_LIMIT_MS = 4_000;

/**
 * The way in for tasks: any client, any partitioner. Each record becomes a command in the mailbox of its run's shard; then its offset is committed,
 * so that a task is submitted at least once, and the command's derived id makes it one.
 */
export class TaskIngress {
  readonly #runner: ConsumerRunner;
  readonly #changed = new Signal();

  constructor(private readonly options: TaskIngressOptions) {
    const { brokers, clientId, prefix, failed, log = SILENT } = options;
    const names = new TopicNames(prefix);
    this.#runner = new ConsumerRunner({
      kafka: kafkaClient({ brokers, clientId, log }),
      group: names.group(GROUP),
      topics: [names.wire('tasks')],
      assigner: PartitionAssigners.roundRobin,
      run: { eachBatchAutoResolve: false, eachBatch: (payload) => this.#eachBatch(payload) },
      failed,
      log,
    });
  }

  /** Joins in the background, and goes on trying while the brokers are away. */
  start(): void {
    this.#runner.start();
  }

  async stop(): Promise<void> {
    this.#runner.abort();
    this.#changed.wake();
    await this.#runner.leave(STOP_LIMIT_MS);
  }

  /** kafkajs commits what is resolved. A batch that could not be handed in is read again. */
  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    if (await this.#post(payload)) payload.resolveOffset(batch.lastOffset());
  }

  /** Only a refused heartbeat leaves, which tells kafkajs to join again. */
  async #post(payload: EachBatchPayload): Promise<boolean> {
    const { commands, toCommand, log = SILENT } = this.options;
    const { partition, messages } = payload.batch;
    for (let n = 0; payload.isRunning() && !this.#runner.stopping.aborted; n++) {
      try {
        await commands.post(messages.map((message) => toCommand(taskRecord(partition, message))));
        return true;
      } catch (error) {
        log.warn({ partition, tasks: messages.length, error }, 'tasks cannot be handed in; trying again');
      }
      await this.#changed.wait(pauseMs(Math.min(n, MAX_PAUSE), Math.random()));
      await payload.heartbeat();
    }
    return false;
  }
}

/** 200 ms * 2^4, well within a session. */
const MAX_PAUSE = 4;

function taskRecord(partition: number, { offset, headers, value }: KafkaMessage): TaskRecord {
  return { topic: 'tasks', partition, offset: BigInt(offset), headers: headers ?? {}, value };
}
