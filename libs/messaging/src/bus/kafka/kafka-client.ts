import {
  type ConsumerConfig,
  type ISocketFactory,
  Kafka,
  type LogEntry,
  logLevel,
  type ProducerConfig,
  type RetryOptions,
} from 'kafkajs';
import type { Log } from '../../lane/log.js';
import { patchRequestQueue } from './request-queue-patch.js';

export interface KafkaClientOptions {
  /** `host:port` of some brokers */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly log: Log;
  /** how often kafkajs repeats by itself, default 10 */
  readonly retries?: number;
  readonly socketFactory?: ISocketFactory | undefined;
}

/** Short pauses: kafkajs nests its repetitions, and a broker that is back should be found soon. */
const RETRY: RetryOptions = { initialRetryTime: 200, maxRetryTime: 2_000, retries: 10 };

/** Of what kafkajs logs, the one thing that nobody is told otherwise: records that were not read are gone. */
const UNTOLD = /offset out of range/i;

patchRequestQueue();

/** The only place where kafkajs is set up; every setting that has a bad default is explicit. */
export function kafkaClient({ brokers, clientId, log, retries = 10, socketFactory }: KafkaClientOptions): Kafka {
  return new Kafka({
    brokers: [...brokers],
    socketFactory,
    clientId,
    connectionTimeout: 5_000,
    requestTimeout: 30_000,
    retry: { ...RETRY, retries },
    logLevel: logLevel.ERROR,
    logCreator: () => (entry) => forward(entry, log),
  });
}

/** Every other error comes to us as a rejection or a crash, which is logged where it is handled; kafkajs writes several lines for each. */
function forward({ namespace, log: { message, ...fields } }: LogEntry, log: Log): void {
  if (UNTOLD.test(message)) log.error({ part: `kafkajs ${namespace}`, ...fields }, message);
}

/** `restartOnFailure` must not throw. Codecs: gzip or none; kafkajs has no other, and an unknown one ends the consumer. */
export function consumerSettings(
  groupId: string,
  restartOnFailure: (error: Error) => Promise<boolean>,
): ConsumerConfig {
  return {
    groupId,
    sessionTimeout: 10_000,
    rebalanceTimeout: 60_000,
    heartbeatInterval: 3_000,
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
  retry: { ...RETRY, retries: 2 },
  createPartitioner:
    () =>
    ({ message }) => {
      if (message.partition === undefined) throw new TypeError('every record names its partition');
      return message.partition;
    },
};
