import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, ConfigError, toFailure, TransientError } from '@lineclear/errors';
import { type Platform, startPlatform } from '@lineclear/standalone';
import { type Expected, readExpected } from '../check/expected.js';
import { type Approver, nobody } from './approver.js';
import { type Batch, chooseBatch, rememberBatch } from './batch.js';
import { BatchRun } from './batch-run.js';
import { type DemoClients, demoClients } from './clients.js';
import { demoApprover } from './demo-approver.js';
import { wipeDataFolder } from './fresh.js';
import { readInbox } from './inbox.js';
import type { StartOptions } from './options.js';
import { collectEvidence } from './proofs.js';
import { runLine } from './report.js';
import { TerminalView } from './terminal.js';
import { jsonView, logView, type View } from './view.js';

export interface DemoInput {
  readonly exampleDir: string;
  readonly options: StartOptions;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

interface Stage extends DemoInput {
  readonly home: string;
  readonly inbox: string;
  readonly batch: Batch;
  readonly platform: Platform;
  readonly clients: DemoClients;
  readonly expected: Expected;
  readonly view: View;
  readonly run: BatchRun;
  readonly startedAt: number;
}

const POLL_MS = 200;

/** The main job: boots the platform, works the inbox off as one batch, reports, and serves until ended. Resolves with the exit code. */
export async function runDemo(input: DemoInput): Promise<number> {
  const { options, environment, exampleDir, signal } = input;
  const home = environment['LINECLEAR_HOME'] ?? '.lineclear';
  const [view, person] = createView(input);
  let platform: Platform | undefined;
  let run: BatchRun | undefined;
  try {
    if (options.fresh) await wipeDataFolder(home, { canAsk: process.stdin.isTTY && process.stderr.isTTY });
    const batch = await chooseBatch(home, options.batch, new Date());
    platform = await startPlatform({
      environment: { ...environment, ERP_LEDGER: resolve(home, 'erp'), ...modelOverride(options) },
      projectDir: exampleDir,
      homeDir: home,
      batch: batch.id,
    });
    await rememberBatch(home, batch);
    const clients = demoClients(platform.url, platform.issuer, batch);
    const approver =
      person ?? (options.approver === 'demo' ? await demoApprover(join(exampleDir, 'demo-approver.yaml')) : nobody);
    run = new BatchRun(batch, clients, approver);
    const startedAt = performance.now();
    view.say(`the platform serves at ${platform.url}; batch ${batch.id}`);
    const stage: Stage = {
      ...input,
      home,
      inbox: join(exampleDir, 'inbox'),
      batch,
      platform,
      clients,
      expected: await readExpected(exampleDir),
      view,
      run,
      startedAt,
    };
    return await Promise.race([workOff(stage, signal), outage(platform)]);
  } catch (error) {
    if (signal.aborted) return options.once ? 1 : 0;
    view.close();
    process.stderr.write(`lineclear: ${messageOf(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  } finally {
    view.close();
    if (signal.aborted && run !== undefined) process.stderr.write(resumeText(run));
    await platform?.stop();
  }
}

/** Says how an interrupted batch goes on; nothing when every run has ended. A message: stdout stays data. */
function resumeText(run: BatchRun): string {
  if (run.settled({ people: true })) return '';
  const { id } = run.batch;
  return `batch ${id} is not finished; it goes on at the next start with \`npm start -- --batch ${id}\`\n`;
}

/** Rejects when the platform cannot go on; the next start resumes the batch. */
async function outage({ failed }: Platform): Promise<never> {
  const reason = await failed;
  const text = reason instanceof Error ? reason.message : String(reason);
  throw new TransientError('unavailable', `the platform cannot go on: ${text}; start again to resume the batch`);
}

/** A person at the terminal sees and answers in one place. */
function createView({ options, environment, signal }: DemoInput): [View, Approver | undefined] {
  const stdout = (text: string) => process.stdout.write(text);
  if (options.json) return [jsonView(stdout, (text) => process.stderr.write(text)), undefined];
  const plain = !process.stdout.isTTY || (environment['NO_COLOR'] ?? '') !== '';
  if (plain && options.approver !== 'ask') return [logView(stdout), undefined];
  const { stdin, stdout: terminal } = process;
  const view = new TerminalView(
    { stdin, stdout: terminal, colour: !plain, interrupt: () => process.kill(process.pid, 'SIGINT') },
    options.approver === 'ask',
  );
  signal.addEventListener('abort', () => view.close());
  return [view, options.approver === 'ask' ? view : undefined];
}

async function workOff(stage: Stage, signal: AbortSignal): Promise<number> {
  const { run, options, view, home, batch } = stage;
  const published = run.publish(await addedFiles(stage), signal).then(() => true);
  for (let sent = false; !(sent && run.settled({ people: !(options.once && options.approver === 'none') })); ) {
    sent ||= await Promise.race([published, pause(POLL_MS, false)]);
    if (sent) await pause(POLL_MS, undefined, { signal });
    signal.throwIfAborted();
    if (sent && !options.once) await takeUp(stage, signal);
    view.update(await run.poll());
  }
  const ok = await report(stage);
  await rememberBatch(home, { ...batch, done: true });
  if (options.once) return ok ? 0 : 1;
  await serve(stage, signal);
  return 0;
}

/** The files of the inbox that the batch does not have. */
const addedFiles = ({ run, inbox }: Stage) => readInbox(inbox, (name) => run.has(name));

/** Publishes what was dropped into the inbox; resolves with the number of files when each has a run or a refusal. */
async function takeUp(stage: Stage, signal: AbortSignal): Promise<number> {
  const added = await addedFiles(stage);
  if (added.length > 0) await stage.run.publish(added, signal);
  return added.length;
}

/** Keeps serving, and takes any further file that is dropped into the inbox. */
async function serve(stage: Stage, signal: AbortSignal): Promise<void> {
  const { run, view, platform, inbox } = stage;
  view.say(`serving at ${platform.url}; drop further files into ${inbox}, Ctrl-C ends`);
  while (!signal.aborted) {
    await pause(POLL_MS * 5, undefined, { signal });
    const added = await takeUp(stage, signal);
    if (added > 0 || !run.settled({ people: true })) view.update(await run.poll());
  }
}

async function report(stage: Stage): Promise<boolean> {
  const { run, expected, clients, batch, home, view, platform, startedAt, options } = stage;
  const { tasks } = run.snapshot();
  const asked = options.approver === 'ask';
  const lines = tasks.map((task) => runLine(task, expected, asked));
  const whole = !asked && lines.every(({ ok }) => ok) && tasks.every(({ file }) => file in expected.files);
  const { proofs, ledger } = await collectEvidence({ home, batch, client: clients.operator, expected, whole }, tasks);
  const ok = lines.filter((line) => line.ok).length;
  view.report(lines, proofs, {
    kind: 'summary',
    batch: batch.id,
    runs: lines.length,
    ok,
    failed: lines.length - ok,
    effects: ledger.effects,
    effectsWithoutDecision: ledger.withoutDecision.length,
    url: platform.url,
    durationMs: Math.round(performance.now() - startedAt),
  });
  return ok === lines.length && proofs.every(({ holds, claim }) => holds !== false || claim.includes('unknown'));
}

const modelOverride = ({ model }: StartOptions): Record<string, string> =>
  model === undefined ? {} : { LINECLEAR_MODEL: model };

function messageOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : toFailure(error).message;
}
