import { type ConsumerConfig, Kafka, type LogEntry, logLevel, type ProducerConfig, type RetryOptions } from 'kafkajs';
import type { Log } from '../../lane/log.js';
import { patchRequestQueue } from './request-queue-patch.js';

export interface KafkaClientOptions {
  /** `host:port` of some brokers */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Log;
}

const RETRY: RetryOptions = { initialRetryTime: 200, maxRetryTime: 10_000, retries: 10 };

/** Errors that kafkajs reports at every start or rebalance and repeats by itself. */
const HARMLESS =
  /coordinator|rebalancing|The coordinator is loading|not aware of this member|Limiting retries|leadership election/i;

/** The only place where kafkajs is set up; every setting that has a bad default is explicit. */
export function kafkaClient({ brokers, clientId, log }: KafkaClientOptions): Kafka {
  patchRequestQueue();
  return new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: 5_000,
    requestTimeout: 30_000,
    retry: RETRY,
    logLevel: logLevel.ERROR,
    logCreator: () => (entry) => forward(entry, log),
  });
}

/** Every error of kafkajs is repeated by it or told to us by a rejection: none is more than a warning. */
function forward({ namespace, log: { message, error } }: LogEntry, log: Log): void {
  if (HARMLESS.test(`${message} ${String(error ?? '')}`)) return;
  log.warn({ part: `kafkajs ${namespace}`, error: error as unknown }, message);
}

export const HEARTBEAT_INTERVAL_MS = 3_000;

/** `restartOnFailure` must not throw. Codecs: gzip or none; kafkajs has no other, and an unknown one ends the consumer. */
export function consumerSettings(
  groupId: string,
  restartOnFailure: (error: Error) => Promise<boolean>,
): ConsumerConfig {
  return {
    groupId,
    sessionTimeout: 10_000,
    rebalanceTimeout: 60_000,
    heartbeatInterval: HEARTBEAT_INTERVAL_MS,
    maxWaitTimeInMs: 500,
    maxBytesPerPartition: 1_048_576,
    maxBytes: 4_194_304,
    allowAutoTopicCreation: false,
    retry: { ...RETRY, restartOnFailure },
  };
}

/**
 * CAUTION: after any failed send such a producer must be thrown away: kafkajs rolls its sequence back, and the broker then takes the next other
 * batch for a repetition and drops it. Its own repetitions are few, since the relay begins again with a new producer.
 */
export const PRODUCER_SETTINGS: ProducerConfig = {
  idempotent: true,
  maxInFlightRequests: 1,
  allowAutoTopicCreation: false,
  retry: { ...RETRY, maxRetryTime: 1_000, retries: 3 },
  createPartitioner:
    () =>
    ({ message }) => {
      if (message.partition === undefined) throw new TypeError('every record names its partition');
      return message.partition;
    },
};
