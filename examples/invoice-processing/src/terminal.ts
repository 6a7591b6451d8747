import type { ApprovalDecision, ApprovalView } from '@lineclear/client';
import { table, visible } from '@lineclear/cli';
import type { Approver } from './approver.js';
import type { Snapshot } from './batch-run.js';
import { reportText, rowOf, type View } from './view.js';

interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly colour: boolean;
  /** Ctrl-C in raw mode */
  readonly interrupt: () => void;
}

/** What the person is doing: choosing an answer, or typing a reason or the new arguments. */
type Mode =
  | { readonly kind: 'choose' }
  | { readonly kind: 'type'; readonly what: 'deny' | 'edit'; readonly text: string };

const CLEAR_BELOW = '\u001b[J';
const up = (lines: number): string => (lines > 0 ? `\u001b[${lines}F` : '\r');

/** A table that is redrawn in place, with the oldest pending approval below it and keys to answer. Asking blocks no run. */
export class TerminalView implements View, Approver {
  private drawn = 0;
  private snapshot: Snapshot = { tasks: [], pending: [] };
  private mode: Mode = { kind: 'choose' };
  private notice = '';
  private readonly given = new Map<string, ApprovalDecision>();
  private readonly skipped = new Set<string>();
  private readonly onKey = (chunk: Buffer): void => this.key(chunk.toString('utf8'));

  constructor(
    private readonly terminal: Terminal,
    private readonly asks: boolean,
  ) {
    if (!asks) return;
    terminal.stdin.setRawMode(true);
    terminal.stdin.on('data', this.onKey);
    terminal.stdin.resume();
  }

  say(text: string): void {
    this.erase();
    this.terminal.stdout.write(`${text}\n`);
    this.draw();
  }

  update(snapshot: Snapshot): void {
    this.snapshot = snapshot;
    this.erase();
    this.draw();
  }

  answers(pending: readonly ApprovalView[]): Promise<ReadonlyMap<string, ApprovalDecision>> {
    const open = new Set(pending.map(({ approvalId }) => approvalId));
    const answers = new Map([...this.given].filter(([approvalId]) => open.has(approvalId)));
    this.given.clear();
    return Promise.resolve(answers);
  }

  refused(_: string, error: unknown): void {
    this.notice = error instanceof Error ? error.message : String(error);
  }

  report(...parts: Parameters<View['report']>): void {
    this.erase();
    this.snapshot = { tasks: [], pending: [] };
    this.terminal.stdout.write(reportText(...parts));
  }

  close(): void {
    if (!this.asks) return;
    this.terminal.stdin.off('data', this.onKey);
    this.terminal.stdin.setRawMode(false);
    this.terminal.stdin.pause();
  }

  private erase(): void {
    this.terminal.stdout.write(`${up(this.drawn)}${CLEAR_BELOW}`);
    this.drawn = 0;
  }

  private draw(): void {
    // a terminal that does not tell its size reports 0
    const columns = this.terminal.stdout.columns || 100;
    const rows = this.terminal.stdout.rows || 40;
    const lines = [...this.runLines(), ...this.questionLines()]
      .slice(-(rows - 1))
      .map((line) => line.slice(0, columns - 1));
    if (lines.length > 0) this.terminal.stdout.write(`${lines.join('\n')}\n`);
    this.drawn = lines.length;
  }

  private runLines(): string[] {
    const { tasks } = this.snapshot;
    return tasks.length === 0 ? [] : table(tasks.map(rowOf), ['file', 'state', 'call', 'verdict', 'steps', 'cost']);
  }

  private question(): ApprovalView | undefined {
    if (!this.asks) return undefined;
    return this.snapshot.pending.find(({ approvalId }) => !this.skipped.has(approvalId) && !this.given.has(approvalId));
  }

  private questionLines(): string[] {
    const question = this.question();
    if (question === undefined) return this.notice === '' ? [] : [this.notice];
    const args = visible(JSON.stringify(question.arguments));
    return [
      '',
      this.bold(`${question.tool} asks for approval: ${visible(question.why)}`),
      args,
      `requested by ${visible(question.requester)}, expires ${question.expiresAt}, ${this.snapshot.pending.length} pending`,
      this.prompt(),
      ...(this.notice === '' ? [] : [this.notice]),
    ];
  }

  private prompt(): string {
    if (this.mode.kind === 'choose') return '[a] approve   [e] edit the arguments   [d] deny   [s] skip   Ctrl-C end';
    const label = this.mode.what === 'deny' ? 'reason' : 'arguments to change, as JSON';
    return `${label} (Enter sends, Esc goes back): ${visible(this.mode.text)}`;
  }

  private key(key: string): void {
    if (key === '\u0003') return this.terminal.interrupt();
    const question = this.question();
    if (question !== undefined)
      this.mode = this.mode.kind === 'choose' ? this.choose(key, question) : this.type(key, question, this.mode);
    this.update(this.snapshot);
  }

  private choose(key: string, question: ApprovalView): Mode {
    this.notice = '';
    if (key === 'a') this.given.set(question.approvalId, { action: 'approve' });
    if (key === 's') this.skipped.add(question.approvalId);
    if (key === 'd') return { kind: 'type', what: 'deny', text: '' };
    if (key === 'e') return { kind: 'type', what: 'edit', text: '' };
    return this.mode;
  }

  private type(key: string, question: ApprovalView, mode: Extract<Mode, { kind: 'type' }>): Mode {
    if (key === '\u001b') return { kind: 'choose' };
    if (key === '\u007f') return { ...mode, text: mode.text.slice(0, -1) };
    if (key !== '\r' && key !== '\n') return { ...mode, text: mode.text + key.replace(/\p{Cc}/gu, '') };
    if (mode.what === 'deny')
      this.given.set(question.approvalId, { action: 'deny', reason: mode.text || 'denied at the terminal' });
    else if (!this.edit(mode.text, question)) return mode;
    return { kind: 'choose' };
  }

  private edit(text: string, question: ApprovalView): boolean {
    try {
      const change: unknown = JSON.parse(text);
      if (typeof change !== 'object' || change === null || Array.isArray(change))
        throw new Error('expected a JSON object');
      this.given.set(question.approvalId, { action: 'edit', arguments: { ...question.arguments, ...change } });
      return true;
    } catch (error) {
      this.notice = `not taken: ${error instanceof Error ? error.message : String(error)}`;
      return false;
    }
  }

  private bold(text: string): string {
    return this.terminal.colour ? `\u001b[1m${text}\u001b[0m` : text;
  }
}
