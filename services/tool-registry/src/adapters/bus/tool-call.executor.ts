import { Controller, Inject } from '@nestjs/common';
import type { ToolResult } from '@lineclear/contracts';
import { LOGGER } from '@lineclear/host';
import { ExecutesJob, type RunningJob } from '@lineclear/messaging';
import { compileArguments } from '@lineclear/run';
import { ERROR_TYPE, GenAi, inSpan, Lineclear, Mcp, tracerOf } from '@lineclear/telemetry';
import { readPage } from '../../application/read-page.js';
import { TOOL_CALL_JOB, type ToolCallJob } from '../../application/run-commands.js';
import { SERVER_WAIT_MS } from '../../domain/effect.js';
import { BUILT_IN } from '../../domain/read-result.js';
import type { AttemptEnd } from '../../domain/settle.js';
import { type ShownResult, shownResult } from '../../domain/tool-result.js';
import { callTool } from '../mcp/call-tool.js';
import { McpHost } from '../mcp/mcp-host.js';
import type { KnownTool } from '../mcp/server-connection.js';
import { BlobStore } from '../postgres/blob-store.js';

/** Makes the calls that the ledger started. It decides nothing: it reports what became of the one attempt. */
@Controller()
export class ToolCallExecutor {
  constructor(
    private readonly host: McpHost,
    private readonly blobs: BlobStore,
    @Inject(LOGGER) private readonly log: { warn(message: string): void },
  ) {}

  @ExecutesJob({ kind: TOOL_CALL_JOB, concurrency: 64 })
  async execute(job: RunningJob<ToolCallJob>, signal: AbortSignal): Promise<AttemptEnd> {
    const { callId, runId, tenant, tool } = job.payload;
    const attributes = {
      [GenAi.operationName]: 'execute_tool',
      [GenAi.toolName]: tool,
      [GenAi.toolCallId]: callId,
      [GenAi.toolType]: 'function',
      [Mcp.methodName]: 'tools/call',
      [Mcp.networkTransport]: 'pipe',
      [Lineclear.runId]: runId,
      [Lineclear.tenant]: tenant,
      [Lineclear.attempt]: job.attempt,
    };
    return await inSpan(tracerOf('tool-registry'), `execute_tool ${tool}`, { attributes }, async (span) => {
      const end = await this.attempt(job, signal);
      if (end.kind !== 'succeeded') span.setAttribute(ERROR_TYPE, end.kind === 'lost' ? end.kind : end.reason);
      return end;
    });
  }

  private async attempt(job: RunningJob<ToolCallJob>, signal: AbortSignal): Promise<AttemptEnd> {
    const { payload } = job;
    if (payload.server === BUILT_IN) return await readPage(this.blobs, payload);
    const connection = await this.host.supervisor(payload.server)?.connected(SERVER_WAIT_MS, signal);
    if (connection === undefined) return notSent('tool-unavailable', true);
    const tool = connection.tool(payload.originalName);
    if (tool?.hash !== payload.definitionHash) return notSent('definition-changed', false);
    job.assertMayDispatch();
    const answer = await callTool(connection, payload, signal);
    return answer.kind === 'answered' ? await this.shown(payload, tool, answer.result) : answer;
  }

  private async shown(job: ToolCallJob, tool: KnownTool, received: Received): Promise<AttemptEnd> {
    const isError = received.isError === true;
    const fault = isError ? undefined : outputFault(tool, received.structuredContent);
    if (fault !== undefined) {
      const text = `the result of the tool is not what it declares and is not shown: ${fault}`;
      return { kind: 'unusable', reason: 'invalid-result', result: { text } };
    }
    const result = await this.kept(job, shownResult(job.callId, received));
    return isError ? { kind: 'refused', reason: 'tool-error', result } : { kind: 'succeeded', result };
  }

  /** The tool has acted: what is too large to be shown may be lost, but not that it was done. */
  private async kept(job: ToolCallJob, { result, blobs }: ShownResult): Promise<ToolResult> {
    try {
      await this.blobs.keep(blobs, job);
      return result;
    } catch (error) {
      this.log.warn(`parts of the result of call \`${job.callId}\` could not be kept: ${String(error)}`);
      const { handle: _handle, ...shown } = result;
      return shown;
    }
  }
}

interface Received {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

const notSent = (reason: string, isRetryable: boolean): AttemptEnd => ({ kind: 'not-sent', reason, isRetryable });

function outputFault({ outputSchema }: KnownTool, structured: unknown): string | undefined {
  if (outputSchema === null) return undefined;
  if (structured === undefined) return 'it declares a structured result and gave none';
  const compiled = compileArguments(outputSchema);
  if (!compiled.usable) return compiled.reason;
  // a result may be any JSON value, and the check takes any
  const problems = compiled.check(structured as Record<string, unknown>);
  return problems.length === 0 ? undefined : problems.map(({ text }) => text).join('; ');
}
