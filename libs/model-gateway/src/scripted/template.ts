import { FACT_ROOTS, type FactPath, type Facts, factAt, factPath } from './facts.js';

export type Template = (facts: Facts) => unknown;

const OMITTED = Symbol('omitted');
const WHOLE = /^\{\{=\s*([^{}]*?)\s*\}\}$/;
const SLOT = /\{\{(=?)\s*([^{}]*?)\s*\}\}/g;

/** Compiles a text with `{{ path }}` slots. Numbers and booleans appear as written in JSON, collections as JSON, missing values as nothing. */
export function compileText(text: string): (facts: Facts) => string {
  const parts: (string | FactPath)[] = [];
  let end = 0;
  for (const match of text.matchAll(SLOT)) {
    const [slot, keepsType = '', path = ''] = match;
    if (keepsType !== '') throw new Error('`{{= }}` keeps the type of a value, so it must be the whole text');
    parts.push(text.slice(end, match.index), knownPath(path));
    end = match.index + slot.length;
  }
  const rest = text.slice(end);
  if (rest.includes('{{')) throw new Error('`{{` is not closed by `}}`');
  parts.push(rest);
  return (facts) => parts.map((part) => (typeof part === 'string' ? part : asText(factAt(facts, part)))).join('');
}

/**
 * Compiles any value: texts are templates, `{{= path }}` alone keeps the type of what it names. A key whose `{{= }}` names nothing is left out,
 * in a list it is null. Throws Error with a readable reason.
 */
export function compileValue(value: unknown): Template {
  const template = compile(value);
  return (facts) => {
    const result = template(facts);
    return result === OMITTED ? undefined : result;
  };
}

function compile(value: unknown): Template {
  if (typeof value === 'string') {
    const whole = WHOLE.exec(value);
    if (!whole) return compileText(value);
    const path = knownPath(whole[1] ?? '');
    return (facts) => factAt(facts, path) ?? OMITTED;
  }
  if (Array.isArray(value)) {
    const items = value.map(compile);
    return (facts) => items.map((item) => orNull(item(facts)));
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const entries = Object.entries(value).map(([key, entry]) => [key, compile(entry)] as const);
  return (facts) =>
    Object.fromEntries(
      entries.flatMap(([key, entry]) => {
        const result = entry(facts);
        return result === OMITTED ? [] : [[key, result]];
      }),
    );
}

const orNull = (value: unknown): unknown => (value === OMITTED ? null : value);

function knownPath(text: string): FactPath {
  const path = factPath(text);
  if (!path) throw new Error(`\`${text}\` is not a dotted path that starts with one of ${FACT_ROOTS.join(', ')}`);
  return path;
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
