import {
  type CloudEvent,
  decodeCloudEvent,
  type DecodeOptions,
  sha256Hex,
  type WireHeaders,
} from '@lineclear/contracts';
import { toFailure } from '@lineclear/errors';
import { type Refusal, refusalOf } from './refusal.js';

/** A task as it arrived, before anything of it is believed. JSON: it travels through the mailbox. */
export interface Submission {
  readonly task: { readonly id: string; readonly source: string };
  /** SHA-256 of the bytes of `data`, or of the whole body when `data` could not be read */
  readonly payloadHash: string;
  readonly type: string;
  /** what the event claims; only compared, never believed */
  readonly tenant?: string;
  /** JSON text of `data`; empty when there is a fault */
  readonly dataText: string;
  /** found while reading */
  readonly fault?: Refusal;
}

export type ReadSubmission =
  | { readonly submission: Submission }
  /** nothing that could name the task: there is no run id to record a refusal under */
  | { readonly unnamed: Refusal };

const RESEND = 'correct the event and send it again with a new id';
const MAX_NAME_CHARS = 200;

/** Reads one event from a transport. Never throws: what is wrong with a task that has an id and a source is its `fault`. */
export function readSubmission(headers: WireHeaders, body: Uint8Array | null, options: DecodeOptions): ReadSubmission {
  try {
    return { submission: submissionOf(decodeCloudEvent(headers, body, options)) };
  } catch (error) {
    const { id, source, type, tenant } = attributesOf(error);
    const fault = refusalOf(error, RESEND);
    if (!id || !source) return { unnamed: fault };
    const payloadHash = sha256Hex(body ?? '');
    const task = { id: storable(id), source: storable(source) };
    return {
      submission: {
        task,
        payloadHash,
        type: type ?? '',
        dataText: '',
        fault,
        ...(tenant && { tenant: storable(tenant) }),
      },
    };
  }
}

function submissionOf({ attributes, dataText }: CloudEvent): Submission {
  const { id, source, type, tenant } = attributes;
  return {
    task: { id, source },
    payloadHash: sha256Hex(dataText),
    type,
    dataText,
    ...(tenant === undefined ? {} : { tenant }),
  };
}

function attributesOf(error: unknown): Readonly<Record<string, string | undefined>> {
  const { attributes } = toFailure(error).details;
  return (attributes ?? {}) as Record<string, string>;
}

/** A name that failed its own check is kept for the refusal in a form that every store and header takes. */
function storable(name: string): string {
  return name
    .replaceAll(/\p{Cc}/gu, '\uFFFD')
    .toWellFormed()
    .slice(0, MAX_NAME_CHARS);
}
