import type { ApprovalView, LineclearClient } from '@lineclear/client';
import { TERMINAL_STATES } from '@lineclear/contracts';
import type { Approver } from './approver.js';
import type { Batch } from './batch.js';
import type { InboxFile } from './inbox.js';
import { publish, type Senders, type TrackedTask, taskIdOf } from './tasks.js';

export interface Snapshot {
  readonly tasks: readonly TrackedTask[];
  readonly pending: readonly ApprovalView[];
}

interface Clients extends Senders {
  readonly approver: LineclearClient;
}

/** One batch on its way: publishes files, follows their runs, and carries the approver's answers to the approval service. */
export class BatchRun {
  private readonly tasks = new Map<string, TrackedTask>();
  private pending: readonly ApprovalView[] = [];

  constructor(
    readonly batch: Batch,
    private readonly clients: Clients,
    private readonly approver: Approver,
  ) {}

  /** All files at once; resolves when each has a run or a refusal. */
  async publish(files: readonly InboxFile[], signal: AbortSignal): Promise<void> {
    for (const file of files)
      this.tasks.set(file.name, {
        file: file.name,
        taskId: taskIdOf(this.batch, file.name),
        runId: null,
        refusal: null,
        run: null,
      });
    await Promise.all(
      files.map(async (file) => {
        this.tasks.set(file.name, await publish(file, this.batch, this.clients, signal));
      }),
    );
  }

  has(file: string): boolean {
    return this.tasks.has(file);
  }

  snapshot(): Snapshot {
    return { tasks: [...this.tasks.values()], pending: this.pending };
  }

  /** Reads the runs that go on and the approvals that wait, and sends what the approver answered. */
  async poll(): Promise<Snapshot> {
    await Promise.all(
      this.snapshot()
        .tasks.filter(goesOn)
        .map((task) => this.refresh(task)),
    );
    const { items } = await this.clients.approver.listApprovals({ status: 'pending' });
    this.pending = items;
    for (const [approvalId, decision] of await this.approver.answers(items)) await this.decide(approvalId, decision);
    return this.snapshot();
  }

  /** True when nothing moves any more: every task is refused, ended or (`people` false) waits for a person. */
  settled({ people }: { people: boolean }): boolean {
    const waiting = new Set(this.pending.map(({ runId }) => runId));
    return this.snapshot().tasks.every(
      (task) => task.refusal !== null || hasEnded(task) || (!people && waits(task, waiting)),
    );
  }

  private async refresh(task: TrackedTask): Promise<void> {
    if (task.runId === null) return;
    this.tasks.set(task.file, { ...task, run: await this.clients.inbox.getRun(task.runId) });
  }

  /** The approval may have expired or been decided elsewhere: then the next poll shows it. */
  private async decide(approvalId: string, decision: Parameters<LineclearClient['decide']>[1]): Promise<void> {
    try {
      await this.clients.approver.decide(approvalId, decision);
      this.pending = this.pending.filter((approval) => approval.approvalId !== approvalId);
    } catch (error) {
      this.approver.refused?.(approvalId, error);
    }
  }
}

export function hasEnded({ run }: TrackedTask): boolean {
  return run !== null && TERMINAL_STATES.some((state) => state === run.state);
}

const goesOn = (task: TrackedTask): boolean => task.runId !== null && !hasEnded(task);

const waits = ({ run }: TrackedTask, waiting: ReadonlySet<string>): boolean =>
  run?.state === 'awaiting' && waiting.has(run.runId);
