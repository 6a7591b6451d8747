import type { Principal } from '@lineclear/contracts';
import { type AppError, InvariantViolationError, NotFoundError, toFailure } from '@lineclear/errors';
import { decodeRecord, type Reader } from '../lane/decode.js';
import { STOP_STARTED } from '../lane/decision.js';
import type { ReadHandle } from '../lane/batch.js';
import type { DroppedInput } from '../lane/input.js';
import type { Shard } from '../lane/shard.js';
import type { MailboxWork } from '../lane/work.js';
import type { MailboxRow } from '../mailbox/mailbox-row.js';
import { HELD_TABLE } from '../tables/lane-tables.js';
import { type HeldRow, heldTableRow } from './held-row.js';

/**
 * Commands that the lane answers itself, with payload `{ heldId }` and for a drop `{ heldId, reason }`; their key is the message's key.
 * CAUTION: persisted names.
 */
export const REDRIVE_HELD = 'held.redrive';
export const DROP_HELD = 'held.drop';

export const isHeldCommand = ({ kind, name }: MailboxRow): boolean =>
  kind === 'command' && (name === REDRIVE_HELD || name === DROP_HELD);

const COLUMNS = `key, n::float8 AS n, shard, held_id AS "heldId", source, id, topic, partition, "offset", type, headers, data, state, attempts,
  (extract(epoch FROM due_at) * 1000)::float8 AS "dueAt", code, failure, (extract(epoch FROM held_at) * 1000)::float8 AS "heldAt"`;

type SqlRow = Omit<HeldRow, 'offset'> & { readonly offset: string };

const fromSql = (row: SqlRow): HeldRow => ({ ...row, offset: BigInt(row.offset) });

/** The first messages of these keys, in order; at most `perKey` of each from its given number on. */
export async function readHeld(
  read: ReadHandle,
  keys: readonly { readonly key: string; readonly n: number }[],
  perKey: number,
): Promise<HeldRow[]> {
  const rows = await read.query<SqlRow>(
    `SELECT ${COLUMNS.replace('key, n::', 'h.key, h.n::')} FROM unnest($1::text[], $2::bigint[]) AS v(first_key, first_n)
     JOIN held h ON h.key = v.first_key AND h.n >= v.first_n AND h.n < v.first_n + ${perKey} ORDER BY h.key, h.n`,
    [keys.map(({ key }) => key), keys.map(({ n }) => n)],
  );
  return rows.map(fromSql);
}

/** Reads the message that a command is about, and makes the work that does it: a refusal when it cannot be done. */
export async function heldCommandWork(
  mail: MailboxRow,
  shard: Shard,
  read: ReadHandle,
  reader: Reader,
  nowMs: number,
): Promise<MailboxWork> {
  const { heldId, reason } = JSON.parse(mail.payload) as { heldId?: string; reason?: string };
  const [sqlRow] = await read.query<SqlRow>(`SELECT ${COLUMNS} FROM held WHERE held_id = $1`, [heldId ?? '']);
  const row = sqlRow === undefined ? undefined : fromSql(sqlRow);
  const base = { origin: 'mailbox', shard, key: mail.key, mailbox: mail, bytes: 500, tries: 0 } as const;
  const alone = { ...base, input: undefined, handler: undefined, traceparent: undefined };
  const refusal = refusalOf(mail, row, shard);
  if (refusal !== undefined || row === undefined) {
    const failure = toFailure(refusal);
    return { ...alone, settle: (fragment) => fragment.answer({ ok: false, failure }) };
  }
  if (mail.name === REDRIVE_HELD) {
    const redriven: HeldRow = { ...row, state: 'retrying', attempts: 0, dueAt: nowMs };
    return { ...alone, redriven, settle: (fragment) => fragment.write(HELD_TABLE, 'put', heldTableRow(redriven)) };
  }
  const by = mail.by === null ? 'unknown' : (JSON.parse(mail.by) as Principal).subject;
  const input = droppedInput(row, shard, reader, by, reason ?? '');
  const handler = input === undefined ? undefined : reader.registry.find('dropped', input.name);
  return { ...alone, input, handler, drop: { row, by, reason: reason ?? '' } };
}

function refusalOf(mail: MailboxRow, row: HeldRow | undefined, shard: Shard): AppError | undefined {
  if (row === undefined || row.key !== mail.key) return new NotFoundError('no such message is held');
  const first = shard.held.first(row.key);
  if (mail.name === REDRIVE_HELD && first?.heldId !== row.heldId)
    return broken(`message \`${row.heldId}\` waits behind \`${first?.heldId ?? ''}\`; redrive or drop that one first`);
  if (mail.name === DROP_HELD && row.type === STOP_STARTED)
    return broken('a message that stops a run cannot be dropped; redrive it');
  return undefined;
}

/** What a handler sees of a drop; nothing where the message cannot be read. */
function droppedInput(
  row: HeldRow,
  shard: Shard,
  reader: Reader,
  by: string,
  reason: string,
): DroppedInput | undefined {
  const { topic, partition, offset, key, data } = row;
  const headers = JSON.parse(row.headers) as Record<string, string>;
  const { input } = decodeRecord({ topic, partition, offset, key, headers, value: data }, shard, reader);
  if (input === undefined) return undefined;
  return { kind: 'dropped', id: input.id, key, shard: shard.id, name: input.name, event: input.event, by, reason };
}

function broken(message: string): InvariantViolationError {
  return new InvariantViolationError('invariant-violated', message);
}
