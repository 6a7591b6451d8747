import { callDigest, callIdOf, type ModelCall, type ToolView } from '@lineclear/contracts';
import { readArguments } from './arguments/arguments-text.js';
import { compileArguments } from './arguments/compile.js';
import { nearest } from './arguments/nearest.js';
import { proposerOf } from './budget-state.js';
import type { Draft } from './draft.js';
import { freeOf, reserveCall } from './ledger.js';
import { repeatKeyOf } from './repeats.js';
import type { RunState } from './state.js';

const MAX_NAME = 200;

interface Refused {
  readonly reason: 'invalid' | 'unknown-tool' | 'repeated' | 'budget';
  readonly message: string;
}

interface Proposable {
  readonly tool: ToolView;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Each call in index order: proposed when it may be decided upon, else refused with a text that the model can act on. */
export function gateCalls(draft: Draft, calls: readonly ModelCall[]): void {
  for (const [index, call] of calls.entries()) {
    const judged = judge(draft.run, call);
    if ('reason' in judged) refuse(draft, index, call, judged);
    else propose(draft, index, judged);
  }
}

/** None of the calls is proposed: the run cannot take another step. */
export function refuseCalls(draft: Draft, calls: readonly ModelCall[], reason: string): void {
  for (const [index, call] of calls.entries())
    refuse(draft, index, call, { reason: 'budget', message: `Not executed: ${reason}.` });
}

function judge(run: RunState, call: ModelCall): Proposable | Refused {
  const tool = run.toolset?.tools.find(({ alias, name }) => alias === call.tool || name === call.tool);
  if (tool === undefined) return { reason: 'unknown-tool', message: unknownTool(run, call.tool) };
  if (tool.status !== 'available')
    return {
      reason: 'unknown-tool',
      message: `\`${tool.alias}\` is ${tool.status}${tool.reason ? `: ${tool.reason}` : ''}.`,
    };
  const read = readArguments(call.argumentsText);
  if (!read.ok) return invalid(tool, [read.text]);
  const schema = compileArguments(tool.schema);
  if (!schema.usable)
    return {
      reason: 'invalid',
      message: `\`${tool.alias}\` cannot be called, its schema is not usable: ${schema.reason}.`,
    };
  const problems = schema.check(read.value);
  if (problems.length > 0)
    return invalid(
      tool,
      problems.map(({ text }) => text),
    );
  const repeated = repetition(run, tool, repeatKeyOf(tool.name, read.value));
  if (repeated !== undefined) return { reason: 'repeated', message: repeated };
  if (freeOf(run.ledger.toolCalls) < 1)
    return {
      reason: 'budget',
      message: `Not executed: the budget of ${run.ledger.toolCalls.limit} toolCalls is used up.`,
    };
  return { tool, arguments: read.value };
}

function invalid(tool: ToolView, problems: readonly string[]): Refused {
  return {
    reason: 'invalid',
    message: `\`${tool.alias}\` was not executed; correct its arguments:\n${problems.map((text) => `- ${text}`).join('\n')}`,
  };
}

function unknownTool(run: RunState, written: string): string {
  const aliases = run.toolset?.tools.filter(({ status }) => status === 'available').map(({ alias }) => alias) ?? [];
  const close = nearest(written, aliases, 3);
  const named = (close.length > 0 ? close : aliases.slice(0, 20)).map((alias) => `\`${alias}\``).join(', ');
  const hint = close.length > 0 ? `Nearest: ${named}.` : named === '' ? 'There are no tools.' : `There are: ${named}.`;
  return `There is no tool \`${written.slice(0, MAX_NAME)}\`. ${hint}`;
}

/** Why the same call may not be made again now, or undefined. */
function repetition({ tried, totals }: RunState, { alias, traits }: ToolView, key: string): string | undefined {
  if (tried.unknown.some((call) => call.key === key))
    return `\`${alias}\` was sent with exactly these arguments before and its outcome is not known; it is not sent again until that is resolved.`;
  const before = tried.recent.findLast((call) => call.key === key);
  if (before === undefined || traits.repeatable) return undefined;
  return before.turn === totals.turns
    ? `\`${alias}\` is asked for twice in this reply with exactly these arguments; it is executed once.`
    : `\`${alias}\` was called with exactly these arguments in turn ${before.turn} and nothing has changed since; that result stands. Use it, or change the arguments.`;
}

function refuse(draft: Draft, index: number, call: ModelCall, refused: Refused): void {
  const tool = draft.run.toolset?.tools.find(({ alias }) => alias === call.tool)?.name ?? call.tool.slice(0, MAX_NAME);
  draft.emit('tool-call.refused', { ...refOf(draft.run, index), tool, ...refused });
}

function propose(draft: Draft, index: number, { tool, arguments: args }: Proposable): void {
  const { run } = draft;
  const ref = refOf(run, index);
  const identity = { tool: tool.name, definitionHash: tool.definitionHash, arguments: { ...args } };
  const digest = callDigest({ tenant: run.principal.tenant, runId: run.runId, turn: ref.turn, index, ...identity });
  const proposer = proposerOf(run, Date.parse(draft.input.at), reserveCall(run.ledger));
  draft.emit('tool-call.proposed', { ...ref, ...identity, digest, ...proposer });
}

function refOf({ runId, totals: { turns } }: RunState, index: number) {
  return { callId: callIdOf(runId, turns, index), turn: turns, index, round: 1, stage: 'first' as const };
}
