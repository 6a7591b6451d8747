/** JSON data. */
export type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

export interface PlainLimits {
  /** Characters of all strings and keys together. */
  readonly maxChars: number;
  /** Nesting, and entries of each collection. */
  readonly maxDepth: number;
  readonly maxEntries: number;
}

const DEFAULT_LIMITS: PlainLimits = { maxChars: 4_096, maxDepth: 6, maxEntries: 100 };
const SECRET_KEY =
  /^(proxy-)?authorization$|cookie|passw|secret|credential|private[-_]?key|api[-_]?key|(^|[-_.])token$|[a-z]Token$/i;

/** True for a key whose value must not be written anywhere. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}

/**
 * Turns any value into bounded JSON data for logs and traces, with markers in brackets where something was left out. Never throws, also for
 * cycles, throwing getters, BigInt and strings of any size; looks at no more than it keeps. Values of secret keys are replaced.
 */
export function plainValue(value: unknown, limits: Partial<PlainLimits> = {}): Plain {
  return new Walk({ ...DEFAULT_LIMITS, ...limits }).plain(value, 0);
}

class Walk {
  readonly #limits: PlainLimits;
  readonly #open = new Set<object>();
  #charsLeft: number;

  constructor(limits: PlainLimits) {
    this.#limits = limits;
    this.#charsLeft = limits.maxChars;
  }

  plain(value: unknown, depth: number): Plain {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'bigint':
        return this.#text(value.toString());
      case 'undefined':
        return '[undefined]';
      case 'object':
        return value === null ? null : this.#guarded(value, depth);
      default:
        return `[${typeof value}]`;
    }
  }

  #text(text: string): string {
    const kept = text.slice(0, Math.max(0, this.#charsLeft)).toWellFormed();
    this.#charsLeft -= kept.length;
    return kept.length === text.length ? kept : `${kept}[cut, ${text.length} characters]`;
  }

  #guarded(value: object, depth: number): Plain {
    if (this.#open.has(value)) return '[cycle]';
    if (depth >= this.#limits.maxDepth) return '[too deep]';
    this.#open.add(value);
    try {
      return this.#object(value, depth);
    } catch {
      return '[unreadable]';
    } finally {
      this.#open.delete(value);
    }
  }

  #object(value: object, depth: number): Plain {
    if (Array.isArray(value)) return this.#list(value, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString();
    if (value instanceof Error) return this.#record(errorFields(value), depth);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof Map)
      return this.#record(Object.fromEntries([...value].map(([key, entry]) => [String(key), entry as unknown])), depth);
    if (value instanceof Set) return this.#list([...value], depth);
    return this.#record(value, depth);
  }

  #list(list: readonly unknown[], depth: number): Plain[] {
    const kept: Plain[] = [];
    for (let at = 0; at < list.length; at += 1) {
      if (at >= this.#limits.maxEntries || this.#charsLeft <= 0) {
        kept.push(`[cut, ${list.length} entries]`);
        break;
      }
      kept.push(this.plain(list[at], depth + 1));
    }
    return kept;
  }

  #record(record: object, depth: number): Plain {
    const keys = Object.keys(record);
    const kept: [string, Plain][] = [];
    for (const key of keys) {
      if (kept.length >= this.#limits.maxEntries || this.#charsLeft <= 0) {
        kept.push(['[cut]', `${keys.length} keys`]);
        break;
      }
      const entry = read(record, key);
      if (entry === undefined) continue;
      kept.push([this.#text(key), isSecretKey(key) ? '[redacted]' : this.plain(entry, depth + 1)]);
    }
    return Object.fromEntries(kept);
  }
}

function read(record: object, key: string): unknown {
  try {
    return (record as Record<string, unknown>)[key];
  } catch {
    return '[unreadable]';
  }
}

function errorFields(error: Error): object {
  const { name, message, stack, cause, ...own } = error;
  return { type: name, message, ...own, stack, ...(cause === undefined ? {} : { cause }) };
}
