import { setTimeout as pause } from 'node:timers/promises';
import { TERMINAL_STATES } from '@lineclear/contracts';
import { TransientError } from '@lineclear/errors';
import { readEventStream, type StreamEvent } from './event-stream.js';
import { type ClientOptions, Http } from './http.js';
import type {
  ApprovalView,
  AuditVerdict,
  AuditView,
  DecisionView,
  Page,
  ParkedView,
  PolicyCheck,
  ReplayVerdict,
  RunSummary,
  RunView,
  ToolListing,
  UnknownCall,
} from './views.js';

/** A task as upstream systems publish it. `data` is sent as it is; a string is taken as the raw JSON text. */
export interface Task {
  readonly id: string;
  readonly source: string;
  readonly tenant?: string;
  readonly data: unknown;
}

export interface SubmittedTask {
  readonly runId: string;
  readonly taskId: string;
  /** the same task was submitted before: nothing new was started */
  readonly known: boolean;
}

export interface ApprovalDecision {
  readonly action: 'approve' | 'edit' | 'deny';
  readonly reason?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

const RECONNECT_MS = 100;
const TASK_TYPE = 'lineclear.task.submit.v1';
const segment = encodeURIComponent;

/** Typed access to a platform over HTTP. Every method throws the AppError that the answer names. */
export class LineclearClient {
  private readonly http: Http;

  constructor(options: ClientOptions) {
    this.http = new Http(options);
  }

  /** Submits a task as a binary-mode CloudEvent. The same id and data again gives the same run. */
  async submit(task: Task): Promise<SubmittedTask> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-type': TASK_TYPE,
      'ce-id': task.id,
      'ce-source': task.source,
      ...(task.tenant === undefined ? {} : { 'ce-tenant': task.tenant }),
    };
    const body = typeof task.data === 'string' ? task.data : JSON.stringify(task.data);
    const response = await this.http.response('/v1/tasks', { method: 'POST', raw: { body, headers } });
    const { runId, taskId } = (await response.json()) as { runId: string; taskId: string };
    return { runId, taskId, known: response.status === 200 };
  }

  listRuns(
    filter: { state?: string; taskId?: string; limit?: number; after?: string } = {},
  ): Promise<Page<RunSummary>> {
    return this.http.json('/v1/runs', { query: filter });
  }

  getRun(runId: string): Promise<RunView> {
    return this.http.json(`/v1/runs/${segment(runId)}`);
  }

  /** Resolves with the run in a terminal state; follows its event stream and reconnects. Throws TransientError(`timed-out`) after `timeoutMs`. */
  async waitForRun(runId: string, { timeoutMs = 600_000 }: { timeoutMs?: number } = {}): Promise<RunView> {
    const signal = AbortSignal.timeout(timeoutMs);
    while (!signal.aborted) {
      const run = await this.getRun(runId);
      if (TERMINAL_STATES.some((state) => state === run.state)) return run;
      await this.untilFinished(runId, signal);
      await pause(RECONNECT_MS);
    }
    throw new TransientError('timed-out', `run \`${runId}\` did not end within ${timeoutMs} ms`);
  }

  private async untilFinished(runId: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.runEvents(runId, signal)) if (event.event === 'lineclear.run.finished.v1') return;
    } catch (error) {
      if (!signal.aborted && !(error instanceof TransientError)) throw error;
    }
  }

  /** The run's events so far, then those to come. */
  async *runEvents(runId: string, signal?: AbortSignal): AsyncGenerator<StreamEvent> {
    yield* this.stream(`/v1/runs/${segment(runId)}/events`, signal);
  }

  cancelRun(runId: string, reason: string): Promise<{ runId: string; state: string }> {
    return this.http.json(`/v1/runs/${segment(runId)}/cancel`, { json: { reason } });
  }

  timeline(runId: string): Promise<unknown> {
    return this.http.json(`/v1/runs/${segment(runId)}/timeline`);
  }

  /** Model calls, turns and what became of each call. */
  tree(runId: string): Promise<unknown> {
    return this.http.json(`/v1/runs/${segment(runId)}/tree`);
  }

  /** The recorded history, one CloudEvent a line: what replay needs, to keep in a file. */
  async history(runId: string): Promise<string> {
    return (await this.http.response(`/v1/runs/${segment(runId)}/events.jsonl`)).text();
  }

  replay(runId: string): Promise<ReplayVerdict> {
    return this.http.json(`/v1/runs/${segment(runId)}/replay`, { method: 'POST', json: {} });
  }

  listApprovals(filter: { status?: string; runId?: string } = {}): Promise<Page<ApprovalView>> {
    return this.http.json('/v1/approvals', { query: filter });
  }

  getApproval(approvalId: string): Promise<ApprovalView> {
    return this.http.json(`/v1/approvals/${segment(approvalId)}`);
  }

  decide(approvalId: string, decision: ApprovalDecision): Promise<ApprovalView> {
    return this.http.json(`/v1/approvals/${segment(approvalId)}/decision`, { json: decision });
  }

  listTools(): Promise<Page<ToolListing>> {
    return this.http.json('/v1/tools');
  }

  getTool(name: string): Promise<ToolListing> {
    return this.http.json(`/v1/tools/${segment(name)}`);
  }

  disableTool(name: string, reason: string): Promise<ToolListing> {
    return this.http.json(`/v1/tools/${segment(name)}/disable`, { json: { reason } });
  }

  enableTool(name: string, reason: string): Promise<ToolListing> {
    return this.http.json(`/v1/tools/${segment(name)}/enable`, { json: { reason } });
  }

  unknownCalls(): Promise<Page<UnknownCall>> {
    return this.http.json('/v1/calls', { query: { status: 'unknown' } });
  }

  resolveCall(
    callId: string,
    resolution: { outcome: 'happened' | 'not-happened'; result?: unknown; reason: string },
  ): Promise<unknown> {
    return this.http.json(`/v1/calls/${segment(callId)}/resolve`, { json: resolution });
  }

  decisions(filter: { runId?: string; after?: string } = {}): Promise<Page<DecisionView>> {
    return this.http.json('/v1/decisions', { query: filter });
  }

  checkPolicy(request: unknown): Promise<PolicyCheck> {
    return this.http.json('/v1/policies/check', { json: request });
  }

  /** Records of the tenant's audit, oldest first; `after` is a `seq`, as `next` gives it. */
  listAudit(filter: { after?: string; limit?: number; subject?: string } = {}): Promise<Page<AuditView>> {
    return this.http.json('/v1/audit', { query: filter });
  }

  verifyAudit(): Promise<AuditVerdict> {
    return this.http.json('/v1/audit/verify');
  }

  listParked(): Promise<Page<ParkedView>> {
    return this.http.json('/v1/parked');
  }

  getParked(id: string): Promise<ParkedView> {
    return this.http.json(`/v1/parked/${segment(id)}`);
  }

  redriveParked(id: string): Promise<unknown> {
    return this.http.json(`/v1/parked/${segment(id)}/redrive`, { json: {} });
  }

  dropParked(id: string, reason: string): Promise<unknown> {
    return this.http.json(`/v1/parked/${segment(id)}/drop`, { json: { reason } });
  }

  /** Whether the platform takes work, with every reason why not. */
  async ready(): Promise<{ ready: boolean; reasons: readonly string[] }> {
    const response = await this.http.probe('/ready');
    const body = (await response.json()) as { reasons?: readonly string[] };
    return { ready: response.ok, reasons: body.reasons ?? [] };
  }

  /** Every event of the tenant from now on, or after the `id` of one seen before. */
  async *events(signal?: AbortSignal, after?: string): AsyncGenerator<StreamEvent> {
    yield* this.stream(after === undefined ? '/v1/events' : `/v1/events?after=${segment(after)}`, signal);
  }

  private async *stream(path: string, signal: AbortSignal | undefined): AsyncGenerator<StreamEvent> {
    const response = await this.http.stream(path, signal);
    if (response.body !== null) yield* readEventStream(response.body);
  }
}
