import { type Failure, fromFailure, toFailure, TransientError, InvalidMessageError } from '@lineclear/errors';
import { z } from 'zod';

export interface ClientOptions {
  /** base URL of the platform's front door, such as `http://127.0.0.1:8420` */
  readonly url: string;
  /** bearer token, or a function that gives a fresh one for each request; it is sent nowhere else */
  readonly token?: string | (() => string | Promise<string>);
  /** default 30,000; 0: none */
  readonly timeoutMs?: number;
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST';
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: unknown;
  /** a body as it is, with its headers */
  readonly raw?: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
  readonly accept?: string;
}

const problemSchema = z.looseObject({
  code: z.string(),
  detail: z.string(),
  status: z.number().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** One connection to a platform: address, credentials, time-out, and problem+json turned back into errors. */
export class Http {
  constructor(private readonly options: ClientOptions) {}

  /** Body of a JSON answer. Throws the AppError that the problem names; TransientError(`unavailable`) when nothing answers. */
  async json<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return (await this.response(path, options)).json() as Promise<T>;
  }

  /** A text/event-stream answer; it has no time limit but `signal`. */
  stream(path: string, signal?: AbortSignal): Promise<Response> {
    return this.send(path, { accept: 'text/event-stream' }, signal === undefined ? [] : [signal]);
  }

  response(path: string, options: RequestOptions = {}): Promise<Response> {
    const { timeoutMs = 30_000 } = this.options;
    return this.send(path, options, timeoutMs > 0 ? [AbortSignal.timeout(timeoutMs)] : []);
  }

  /** Any answer, also a 503 that says why. */
  probe(path: string): Promise<Response> {
    return this.fetch(this.urlOf(path, undefined), { signal: AbortSignal.timeout(5_000) });
  }

  private async send(path: string, options: RequestOptions, signals: AbortSignal[]): Promise<Response> {
    const url = this.urlOf(path, options.query);
    const response = await this.fetch(url, {
      method: options.method ?? (options.json === undefined && options.raw === undefined ? 'GET' : 'POST'),
      headers: {
        accept: options.accept ?? 'application/json',
        ...(await this.authorization()),
        ...bodyHeaders(options),
      },
      body: options.raw?.body ?? (options.json === undefined ? null : JSON.stringify(options.json)),
      signal: AbortSignal.any(signals),
      redirect: 'error',
    });
    if (!response.ok) throw await problemError(response, url);
    return response;
  }

  private urlOf(path: string, query: RequestOptions['query']): string {
    const url = new URL(path, this.options.url);
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return url.href;
  }

  private async authorization(): Promise<Record<string, string>> {
    const { token } = this.options;
    const value = typeof token === 'function' ? await token() : token;
    return value === undefined ? {} : { authorization: `Bearer ${value}` };
  }

  private async fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'AbortError') throw cause;
      if (cause instanceof Error && cause.name === 'TimeoutError')
        throw new TransientError('timed-out', `\`${url}\` did not answer in time`, { cause });
      throw new TransientError(
        'unavailable',
        `nothing answers at \`${new URL(url).origin}\`; is the platform running there?`,
        { cause },
      );
    }
  }
}

function bodyHeaders({ json, raw }: RequestOptions): Readonly<Record<string, string>> {
  if (raw !== undefined) return raw.headers;
  return json === undefined ? {} : { 'content-type': 'application/json' };
}

async function problemError(response: Response, url: string): Promise<Error> {
  const text = await response.text();
  const problem = problemSchema.safeParse(parse(text));
  if (!problem.success)
    return new InvalidMessageError(
      'invalid-message',
      `\`${url}\` answered ${response.status} without a problem document; is that the platform?`,
    );
  const {
    code,
    detail,
    details,
    type: _type,
    title: _title,
    status: _status,
    instance: _instance,
    ...rest
  } = problem.data;
  const failure: Failure = {
    ...toFailure(undefined),
    code: code as Failure['code'],
    message: detail,
    details: { ...rest, ...details },
  };
  return fromFailure(failure);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
