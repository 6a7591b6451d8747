import { type LocatedConfig, parseLocatedConfigFile } from '@lineclear/config-file';
import type { ModelReply, Price, Usage } from '@lineclear/contracts';
import { ConfigError, type ConfigFault, type Failure } from '@lineclear/errors';
import { type Condition, compileCondition } from './condition.js';
import { FACT_ROOTS, type Facts, factPath } from './facts.js';
import { type ScriptCall, type ScriptFile, type ScriptRule, scriptFileSchema } from './script-file.js';
import { compileText, compileValue } from './template.js';

type UsageCounts = Omit<Usage, 'estimated'>;
type Located = LocatedConfig<ScriptFile>;
type Path = Parameters<Located['faultAt']>[0];

export type ScriptedReply =
  | { readonly status: 'succeeded'; readonly reply: ModelReply }
  | { readonly status: 'malformed'; readonly reason: string }
  | { readonly status: 'failed'; readonly failure: Failure };

export interface Rule {
  readonly matches: Condition;
  readonly reply: (facts: Facts) => ScriptedReply;
  readonly usage: Partial<UsageCounts> | undefined;
  readonly delayMs: number;
}

/** A scripted model, ready to answer. */
export interface Script {
  readonly file: string;
  /** without `scripted/` */
  readonly model: string;
  readonly price: Price | null;
  readonly maxOutputTokens: number;
  readonly rules: readonly Rule[];
}

/**
 * Reads one models/*.yaml.
 * @throws ConfigError with line and column for each fault, also for a path, pattern or template that cannot be used
 */
export function parseScript(text: string, file: string): Script {
  const located = parseLocatedConfigFile(text, { file, schema: scriptFileSchema });
  const faults: ConfigFault[] = [];
  const rules = located.value.script.map((rule, index) => compileRule(rule, located, ['script', index], faults));
  const [first, ...rest] = faults;
  if (first) throw new ConfigError([first, ...rest]);
  const { model, price, maxOutputTokens } = located.value;
  return {
    file,
    model: model.slice('scripted/'.length),
    price: price === 'none' ? null : price,
    maxOutputTokens,
    rules,
  };
}

function compileRule(rule: ScriptRule, located: Located, path: Path, faults: ConfigFault[]): Rule {
  const attempt = <T>(at: Path, compile: () => T, fallback: T, key?: string): T => {
    try {
      return compile();
    } catch (cause) {
      const what = cause instanceof Error ? cause.message : String(cause);
      faults.push(located.faultAt(at, { what, next: 'correct it' }, key));
      return fallback;
    }
  };
  const conditions = Object.entries(rule.when ?? {}).map(([name, expectation]) =>
    attempt<Condition>(
      [...path, 'when'],
      () => compileCondition(knownFact(name), expectation),
      () => false,
      name,
    ),
  );
  const reply = attempt<Rule['reply']>(
    path,
    () => compileReply(rule),
    () => ({ status: 'malformed', reason: '' }),
  );
  return {
    matches: (facts) => conditions.every((condition) => condition(facts)),
    reply,
    usage: rule.usage,
    delayMs: rule.delayMs ?? 0,
  };
}

function knownFact(name: string) {
  const path = factPath(name);
  if (!path)
    throw new Error(
      `\`${name}\` is not a fact; expected a dotted path that starts with one of ${FACT_ROOTS.join(', ')}`,
    );
  return path;
}

function compileReply(rule: ScriptRule): Rule['reply'] {
  const { call, say, malformed, fail } = rule;
  const kinds = [call ?? say, malformed, fail].filter((kind) => kind !== undefined).length;
  if (kinds !== 1)
    throw new Error('a rule needs `call` or `say` (or both), or `malformed`, or `fail`, and only one of these');
  if (malformed !== undefined) return () => ({ status: 'malformed', reason: malformed });
  if (fail !== undefined) return () => ({ status: 'failed', failure: { ...fail, details: {} } });
  const text = compileText(say ?? '');
  const calls = (call ?? []).map(compileCall);
  const stopReason = rule.stop ?? (calls.length > 0 ? 'calls' : 'end');
  return (facts) => ({
    status: 'succeeded',
    reply: {
      text: text(facts),
      calls: calls.map((each, index) => ({ id: `call_${facts.step}_${index}`, ...each(facts) })),
      stopReason,
    },
  });
}

function compileCall(call: ScriptCall): (facts: Facts) => { tool: string; argumentsText: string } {
  if (call.arguments !== undefined && call.argumentsText !== undefined)
    throw new Error('a call has either `arguments` or `argumentsText`, not both');
  const tool = compileText(call.tool);
  if (call.argumentsText !== undefined) {
    const text = compileText(call.argumentsText);
    return (facts) => ({ tool: tool(facts), argumentsText: text(facts) });
  }
  const value = compileValue(call.arguments ?? {});
  return (facts) => ({ tool: tool(facts), argumentsText: JSON.stringify(value(facts)) });
}
