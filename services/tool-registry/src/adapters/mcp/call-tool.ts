import { type CallToolResult, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { currentTraceparent } from '@lineclear/telemetry';
import type { ToolCallJob } from '../../application/run-commands.js';
import type { AttemptEnd } from '../../domain/settle.js';
import type { ServerConnection } from './server-connection.js';
import { UNUSABLE } from './stdio-transport.js';

/** Errors by which a server says that it did nothing: parse, request, method and parameters, header, capability, version. */
const REFUSED_CODES: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602, -32_020, -32_021, -32_022]);

export type CallAnswer = { readonly kind: 'answered'; readonly result: CallToolResult } | AttemptEnd;

/**
 * Sends one call and classifies whatever comes back. Never throws; `signal` aborts it (the server is told), and the tool's own time is an absolute
 * deadline of ours.
 */
export async function callTool(
  connection: ServerConnection,
  job: ToolCallJob,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new Error('the time of the call is over')), job.toolTimeoutMs);
  try {
    const request = { method: 'tools/call' as const, params: paramsOf(job) };
    const options = { signal: AbortSignal.any([signal, deadline.signal]), timeout: job.toolTimeoutMs + 1_000 };
    return { kind: 'answered', result: await connection.client.request(request, options) };
  } catch (error) {
    if (signal.aborted) return { kind: 'silent', reason: isTimeout(signal.reason) ? 'timeout' : 'aborted' };
    return deadline.signal.aborted ? { kind: 'silent', reason: 'timeout' } : endOf(error);
  } finally {
    clearTimeout(timer);
  }
}

function paramsOf(job: ToolCallJob) {
  const traceparent = currentTraceparent();
  const args = job.keyArgument === null ? job.arguments : { ...job.arguments, [job.keyArgument]: job.key };
  return {
    name: job.originalName,
    arguments: { ...args },
    _meta: {
      'io.lineclear/idempotency-key': job.key,
      'io.lineclear/run-id': job.runId,
      'io.lineclear/call-id': job.callId,
      'io.lineclear/authorization-id': job.authorizationId,
      'io.lineclear/tenant': job.tenant,
      ...(traceparent === undefined ? {} : { traceparent }),
    },
  };
}

const isTimeout = (reason: unknown): boolean =>
  typeof reason === 'object' && reason !== null && 'code' in reason && reason.code === 'timed-out';

function endOf(error: unknown): AttemptEnd {
  if (ProtocolError.isInstance(error)) return protocolEnd(error);
  if (!SdkError.isInstance(error)) return { kind: 'silent', reason: 'no-answer' };
  switch (error.code) {
    case SdkErrorCode.NotConnected:
      return { kind: 'not-sent', reason: 'tool-unavailable', isRetryable: true };
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.SendFailed:
      return { kind: 'silent', reason: 'connection-lost' };
    case SdkErrorCode.UnsupportedResultType:
    case SdkErrorCode.InputRequiredRoundsExceeded:
      return refused('input-required', 'the tool asks for more input than its arguments, which is not supported');
    case SdkErrorCode.InvalidResult:
      return unusable('invalid-result', 'the answer of the tool does not follow the protocol and is not shown');
    default:
      return { kind: 'silent', reason: 'no-answer' };
  }
}

function protocolEnd({ code, message }: ProtocolError): AttemptEnd {
  const seen = message.slice(0, 500);
  switch (code) {
    case UNUSABLE.lossyNumber:
      return unusable(
        'lossy-number',
        `the result of the tool has the number ${seen}, which cannot be held exactly, so it is not shown; the tool must send it as text`,
      );
    case UNUSABLE.tooLarge:
      return unusable(
        'result-too-large',
        `the result of the tool has ${seen}, which is over the limit, so it is not shown`,
      );
    default:
      return REFUSED_CODES.has(code) ? refused('protocol-error', seen) : { kind: 'silent', reason: 'protocol-error' };
  }
}

const refused = (reason: string, text: string): AttemptEnd => ({ kind: 'refused', reason, result: { text } });
const unusable = (reason: string, text: string): AttemptEnd => ({ kind: 'unusable', reason, result: { text } });
