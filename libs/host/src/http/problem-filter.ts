import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { fromForeignError } from './foreign-error.js';
import type { HostRequest } from './principal.js';
import { problemOf } from './problem.js';

/** What the filter needs of Fastify's reply. */
interface Reply {
  readonly sent: boolean;
  readonly raw: { readonly headersSent: boolean; destroy(): void };
  code(status: number): Reply;
  headers(headers: Readonly<Record<string, string>>): Reply;
  send(body: unknown): unknown;
}

export interface ProblemFilterOptions {
  readonly bodyLimitBytes: number;
  /** trace id of a request */
  traceId(request: object): string;
  /** told of every answer with 5xx, with the error itself: the only place where its cause and stack are seen */
  failed(error: unknown, request: { readonly method: string; readonly path: string; readonly traceId: string }): void;
}

/** Answers everything thrown in an HTTP route as problem+json; errors of lane handlers pass through untouched. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly options: ProblemFilterOptions) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw thrown;
    const request = host.switchToHttp().getRequest<HostRequest>();
    const reply = host.switchToHttp().getResponse<Reply>();
    const path = request.url.split('?')[0] ?? '';
    const { bodyLimitBytes } = this.options;
    const error = fromForeignError(thrown, { method: request.method, path, bodyLimitBytes });
    const traceId = this.options.traceId(request);
    const { status, headers, body } = problemOf(error, path, traceId);
    if (status >= 500) this.options.failed(error, { method: request.method, path, traceId });
    if (reply.sent || reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    reply.code(status).headers(headers).send(body);
  }
}
