import { setTimeout as delay } from 'node:timers/promises';
import type { ModelReply, ToolView, Usage } from '@lineclear/contracts';
import { ConfigError, NotFoundError } from '@lineclear/errors';
import type { ModelOutcome, ModelProvider, ModelRequest } from '../ports.js';
import { factsOf } from './facts.js';
import { parseScript, type Rule, type Script } from './script.js';

export interface ScriptSource {
  /** as the user knows it; it starts every message */
  readonly file: string;
  readonly text: string;
}

/**
 * The provider `scripted`: replies come from the rules of models/*.yaml, tried in order at each call. Deterministic: equal requests get equal outcomes.
 * @throws ConfigError naming every fault of a file, or two files of one model
 */
export function createScriptedProvider(sources: readonly ScriptSource[]): ModelProvider {
  const scripts = new Map<string, Script>();
  for (const { file, text } of sources) {
    const script = parseScript(text, file);
    const other = scripts.get(script.model);
    if (other)
      throw new ConfigError([
        {
          where: file,
          what: `model \`scripted/${script.model}\` is defined in \`${other.file}\` too`,
          next: 'rename one of them',
        },
      ]);
    scripts.set(script.model, script);
  }
  return {
    name: 'scripted',
    models: [...scripts.keys()],
    describe: (model) => scripts.get(model),
    async call(model, request, signal) {
      const script = scripts.get(model);
      if (!script) throw new NotFoundError(`model \`scripted/${model}\` does not exist`);
      return answer(script, request, signal);
    },
  };
}

async function answer(script: Script, request: ModelRequest, signal: AbortSignal): Promise<ModelOutcome> {
  const facts = factsOf(request);
  const rule = script.rules.find((each) => each.matches(facts));
  if (!rule)
    throw new NotFoundError(
      `no rule of \`${script.file}\` matches turn ${facts.turn} with the last result \`${facts.last?.tool ?? 'none'}\`; end the script with a rule without \`when\``,
    );
  if (rule.delayMs > 0) await delay(rule.delayMs, undefined, { signal });
  const outcome = rule.reply(facts);
  if (outcome.status === 'failed') return outcome;
  if (outcome.status === 'malformed') return { ...outcome, usage: usageOf(rule, request, undefined) };
  const reply = {
    ...outcome.reply,
    calls: outcome.reply.calls.map((call) => ({ ...call, tool: aliasOf(call.tool, request.tools) })),
  };
  return { status: 'succeeded', reply, usage: usageOf(rule, request, reply) };
}

/** A model knows a tool by its alias only; a name that it was not given stays as written. */
function aliasOf(name: string, tools: readonly ToolView[]): string {
  return tools.find((tool) => tool.name === name)?.alias ?? name;
}

const NO_TOKENS = { uncached: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

function usageOf(rule: Rule, request: ModelRequest, reply: ModelReply | undefined): Usage {
  if (rule.usage) return { ...NO_TOKENS, ...rule.usage, estimated: false };
  return { ...NO_TOKENS, uncached: tokens(requestChars(request)), output: tokens(replyChars(reply)), estimated: true };
}

/** A quarter of a token per character: the usual estimate, good enough for a script that names no usage. */
const tokens = (chars: number): number => Math.ceil(chars / 4);

function requestChars(request: ModelRequest): number {
  let chars = request.system.length;
  for (const message of request.messages) chars += message.text.length;
  return chars;
}

function replyChars(reply: ModelReply | undefined): number {
  if (!reply) return 0;
  return reply.calls.reduce((chars, call) => chars + call.tool.length + call.argumentsText.length, reply.text.length);
}
