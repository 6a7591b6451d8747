import { derivedId, runIdOf, type WireHeaders } from '@lineclear/contracts';
import type { Producers } from '@lineclear/identity';
import type { BusRecord, NewCommand } from '@lineclear/messaging';
import { readSubmission, type Submission } from '../domain/submission.js';
import { SUBMIT_TASK } from './names.js';

/** Refusals of tasks from nobody known are kept apart from every tenant. */
const NO_TENANT = 'unassigned';

/** As the ingress reads it: bytes that nobody has looked at. */
export interface TaskRecord extends Pick<BusRecord, 'topic' | 'partition' | 'offset'> {
  readonly headers: WireHeaders;
  readonly value: string | Uint8Array | null;
}

/**
 * A record of the topic `tasks` as a command to the owner of its run. The command's id is derived from run and payload, so a record that comes twice
 * is one command. Never throws: what cannot be read becomes a refusal too, named by its place in the topic when it names nothing itself.
 */
export function taskCommandOf(record: TaskRecord, producers: Producers): NewCommand {
  const submission = submissionOf(record);
  const { id, source } = submission.task;
  const by = producers.principalOf(source) ?? null;
  const tenant = by?.tenant ?? NO_TENANT;
  const key = runIdOf(tenant, source, id);
  const commandId = derivedId('submit', key, submission.payloadHash);
  return { id: commandId, name: SUBMIT_TASK, key, tenant, payload: submission, by };
}

function submissionOf({ topic, partition, offset, headers, value }: TaskRecord): Submission {
  const body = typeof value === 'string' ? Buffer.from(value) : value;
  const read = readSubmission(headers, body, { binding: 'kafka' });
  if ('submission' in read) return read.submission;
  const task = { id: `${partition}/${offset}`, source: `topic ${topic}` };
  const place = derivedId('record', topic, partition, offset.toString());
  return { task, payloadHash: place, type: '', dataText: '', fault: read.unnamed };
}
