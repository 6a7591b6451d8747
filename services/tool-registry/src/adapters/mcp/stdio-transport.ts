import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { findLossyNumber } from '@lineclear/run';
import type { GuardedProcess } from './guarded-process.js';
import { LineReader, type OversizedLine } from './line-reader.js';

/**
 * Errors that stand for an answer which came and is not used. Outside the range that JSON-RPC keeps, so no server's error is taken for one: the code is
 * only given to an answer that the server sent as a result.
 */
export const UNUSABLE = { lossyNumber: 1_001, tooLarge: 1_002 } as const;
const RESERVED: ReadonlySet<number> = new Set(Object.values(UNUSABLE));
const INTERNAL_ERROR = -32_603;

/** Most bytes of one message; a longer one is skipped and never held. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Lines that are no message, one after the other, until the server is given up. */
const MAX_BAD_LINES = 100;

/**
 * JSON-RPC over the pipes of a guarded process. A bad line is counted and skipped, messages after it are served. An answer to a call whose numbers a
 * double cannot hold, or that is too large, becomes an error of that call alone.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** by its presence, with `pid`, the client knows that this is stdio */
  readonly stderr = null;
  readonly #calls = new Set<number | string>();
  readonly #reader: LineReader;
  #badLines = 0;
  #isGivenUp = false;
  #firstBadLine: string | undefined;
  #isClosed = false;

  constructor(private readonly child: GuardedProcess) {
    this.#reader = new LineReader(
      MAX_MESSAGE_BYTES,
      (line) => this.#guarded(() => this.#onLine(line)),
      (line) => this.#guarded(() => this.#onOversized(line)),
    );
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The first thing it printed that is no message, for the reason why it cannot be used. */
  get garbage(): string | undefined {
    return this.#firstBadLine;
  }

  /** Ended because it prints nothing but lines that are no messages. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  async start(): Promise<void> {
    this.child.stdout.on('data', (chunk: Buffer) => this.#reader.push(chunk));
    void this.child.exited.then(() => this.#closed());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('the server has ended');
    if ('method' in message && message.method === 'tools/call' && 'id' in message) this.#calls.add(message.id);
    const { stdin } = this.child;
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), this.child.exited]);
  }

  async close(): Promise<void> {
    await this.child.stop();
    this.#closed();
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  /** Nothing that a server prints may end this process. */
  #guarded(take: () => void): void {
    if (this.#isGivenUp) return;
    try {
      take();
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #onLine(line: string): void {
    const message = messageOf(line);
    if (message === undefined) return this.#bad(line);
    this.#badLines = 0;
    if ('method' in message || message.id === undefined || !this.#calls.delete(message.id))
      return this.onmessage?.(message);
    this.onmessage?.(answerOf(message, message.id, line));
  }

  #onOversized({ head, tail, bytes }: OversizedLine): void {
    const id = [/^\{"jsonrpc":"2\.0","id":(\d+),/.exec(head), /,"id":(\d+)(?:,"jsonrpc":"2\.0")?\}\s*$/.exec(tail)]
      .map((match) => Number(match?.[1]))
      .find((found) => this.#calls.delete(found));
    if (id === undefined) return this.#bad(head);
    this.onmessage?.(failureOf(id, UNUSABLE.tooLarge, `${bytes} bytes`));
  }

  #bad(line: string): void {
    this.#firstBadLine ??= line.slice(0, 200);
    this.#badLines += 1;
    this.onerror?.(new Error('the server printed a line that is no JSON-RPC message'));
    this.#isGivenUp = this.#badLines >= MAX_BAD_LINES;
    if (this.#isGivenUp) this.child.kill();
  }
}

/** The outer form alone: the client checks what it is given. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') return false;
  const { id, method, result, error } = value;
  const hasId = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
  if (method !== undefined) return typeof method === 'string' && (id === undefined || hasId);
  if (isRecord(result)) return hasId;
  return isRecord(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string';
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function messageOf(line: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The answer to a call as it is passed on: our own codes never come from the server. */
function answerOf(message: JSONRPCMessage, id: number | string, line: string): JSONRPCMessage {
  if ('error' in message && RESERVED.has(message.error.code))
    return failureOf(id, INTERNAL_ERROR, message.error.message);
  const lossy = 'result' in message ? lossyNumberIn(line) : undefined;
  return lossy === undefined ? message : failureOf(id, UNUSABLE.lossyNumber, lossy);
}

function lossyNumberIn(line: string): string | undefined {
  try {
    return findLossyNumber(line);
  } catch {
    return 'a number in a value that is nested too deep';
  }
}

const failureOf = (id: number | string, code: number, message: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
