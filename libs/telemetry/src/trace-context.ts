import { AppError, dispositionOf } from '@lineclear/errors';
import {
  context,
  isSpanContextValid,
  type Link,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { ERROR_TYPE } from './attributes.js';

/** The active span as a W3C `traceparent`, for event headers, job rows and MCP `_meta`; undefined outside of any span. */
export function currentTraceparent(): string | undefined {
  const active = trace.getActiveSpan()?.spanContext();
  if (active === undefined || !isSpanContextValid(active)) return undefined;
  return `00-${active.traceId}-${active.spanId}-${(active.traceFlags & 0xff).toString(16).padStart(2, '0')}`;
}

/** Runs `work` as a part of the trace that a message came from. Without a valid `traceparent` it belongs to no trace, whatever runs around it. */
export function withRemoteContext<T>(traceparent: string | undefined, work: () => T): T {
  const remote = remoteContext(traceparent);
  const base = context.active();
  return context.with(remote === undefined ? trace.deleteSpan(base) : trace.setSpanContext(base, remote), work);
}

/** A link to the span that sent a message, for work that is not its child: a batch, a retry, a resume after a long wait. */
export function linkTo(traceparent: string | undefined): Link[] {
  const remote = remoteContext(traceparent);
  return remote === undefined ? [] : [{ context: remote }];
}

/**
 * Runs `work` in a span that ends with it. A failure marks the span with the error's code, or its class when it is not ours, and goes on; a
 * cancel is no error. Messages and stacks are not recorded, since they may hold content.
 */
export async function inSpan<T>(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setAttribute(ERROR_TYPE, errorType(error));
      if (dispositionOf(error) !== 'cancelled') span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

function remoteContext(traceparent: string | undefined): SpanContext | undefined {
  const parsed = traceparent === undefined ? null : parseTraceParent(traceparent);
  return parsed !== null && isSpanContextValid(parsed) ? { ...parsed, isRemote: true } : undefined;
}

function errorType(error: unknown): string {
  if (error instanceof AppError) return error.code;
  return error instanceof Error ? error.name : typeof error;
}
