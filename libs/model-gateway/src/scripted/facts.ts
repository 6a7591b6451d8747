import type { CallOutcome, Message, ToolMessage } from '@lineclear/contracts';
import type { ModelRequest } from '../ports.js';

/** How the script sees one tool result. `result` is the structured value, else the text when it is JSON. */
interface ResultFact {
  readonly tool: string;
  readonly status: CallOutcome;
  readonly text: string;
  readonly result: unknown;
  readonly turn: number;
}

/** What conditions and templates may name. CAUTION: these are the words of models/*.yaml. */
export interface Facts {
  readonly task: unknown;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** the latest tool result */
  readonly last: ResultFact | undefined;
  /** latest result per tool */
  readonly results: Readonly<Record<string, ResultFact>>;
  /** number of results per tool */
  readonly count: Readonly<Record<string, number>>;
  /** tools that have a result */
  readonly seen: readonly string[];
}

export const FACT_ROOTS = ['task', 'turn', 'step', 'attempt', 'last', 'results', 'count', 'seen'] as const;

export type FactPath = readonly string[];

/** Splits a dotted path; undefined when it is empty or starts with none of FACT_ROOTS. */
export function factPath(text: string): FactPath | undefined {
  const path = text.split('.');
  return path.every((part) => part !== '') && FACT_ROOTS.some((root) => root === path[0]) ? path : undefined;
}

export function factsOf(request: ModelRequest): Facts {
  const results: Record<string, ResultFact> = Object.create(null);
  const count: Record<string, number> = Object.create(null);
  let last: ResultFact | undefined;
  for (const message of request.messages) {
    if (!isToolMessage(message)) continue;
    last = resultFact(message);
    results[message.tool] = last;
    count[message.tool] = (count[message.tool] ?? 0) + 1;
  }
  const { task, turn, step, attempt } = request;
  return { task, turn, step, attempt, last, results, count, seen: Object.keys(results) };
}

/** The value at a path, or undefined. Keys may contain dots themselves (tool names): the longest key that exists is tried first. */
export function factAt(facts: Facts, path: FactPath): unknown {
  const value = valueAt(facts, path);
  return value === undefined && path[0] === 'count' ? 0 : value;
}

function valueAt(value: unknown, path: FactPath): unknown {
  if (path.length === 0) return value;
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return undefined;
  for (let length = path.length; length > 0; length -= 1) {
    const key = path.slice(0, length).join('.');
    if (!Object.hasOwn(value, key)) continue;
    const found = valueAt((value as Record<string, unknown>)[key], path.slice(length));
    if (found !== undefined) return found;
  }
  return undefined;
}

const isToolMessage = (message: Message): message is ToolMessage => message.role === 'tool';

function resultFact({ tool, outcome, text, structured, turn }: ToolMessage): ResultFact {
  return {
    tool,
    status: outcome,
    text,
    turn,
    get result() {
      return structured === undefined ? parsed(text) : structured;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
