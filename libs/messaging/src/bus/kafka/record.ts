import type { KafkaMessage } from 'kafkajs';
import type { Topic } from '@lineclear/contracts';
import type { BusRecord } from '../bus.js';

/**
 * A message as the lane takes it. Foreign ones must not break the batch that holds them: bytes that are not UTF-8 and U+0000, which PostgreSQL
 * does not store, become U+FFFD, and then fail where they are decoded.
 */
export function busRecord(topic: Topic, partition: number, message: KafkaMessage): BusRecord {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers ?? {}))
    if (value !== undefined) headers[text(name)] = Array.isArray(value) ? value.map(text).join(',') : text(value);
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    key: message.key === null ? null : text(message.key),
    headers,
    value: message.value === null ? null : text(message.value),
  };
}

const text = (value: Buffer | string): string => value.toString().replaceAll('\u0000', '\ufffd');
