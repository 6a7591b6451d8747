import { ConfigError, type ConfigFault } from '@lineclear/errors';
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument } from 'yaml';

export type Path = readonly PropertyKey[];

/** A YAML document that still knows where each of its values stands. */
export interface YamlText {
  readonly value: unknown;
  /** Place of the value at `path`; of the key itself with `key`; of the nearest parent when it is missing. */
  place(path: Path, key?: PropertyKey): Pick<ConfigFault, 'where' | 'line' | 'column'>;
  /** The text of the scalar or the kind of the collection at `path`; undefined when there is none. */
  seen(path: Path): string | undefined;
}

const SEEN_CHARS = 60;
const SECRET_KEY = /secret|token|password|credential|api_?key/i;

/**
 * Reads one YAML 1.2 document: keys are unique, no custom tags, few aliases.
 * @throws ConfigError with line and column for text that is not YAML, for several documents and for an empty file
 */
export function readYamlText(text: string, file: string): YamlText {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, stringKeys: true, prettyErrors: false });
  const at = (offset: number | undefined) => {
    if (offset === undefined) return { where: file };
    const { line, col } = lineCounter.linePos(offset);
    return { where: file, line, column: col };
  };
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw notYaml({ ...at(problem.pos[0]), what: lowerFirst(problem.message) });
  if (document.contents === null) {
    throw new ConfigError([
      { ...at(0), what: 'the file is empty', expected: 'a YAML mapping', next: 'fill it or remove it' },
    ]);
  }
  return {
    value: plainValue(document, at(0)),
    place: (path, key) => at(offsetOf(document, path, key)),
    seen: (path) => seenText(document, path),
  };
}

function notYaml(fault: ConfigFault): ConfigError {
  return new ConfigError([{ ...fault, expected: 'one YAML 1.2 document', next: 'correct the syntax' }]);
}

function plainValue(document: Document, top: Pick<ConfigFault, 'where' | 'line' | 'column'>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw notYaml({ ...top, what: lowerFirst(cause instanceof Error ? cause.message : 'the document cannot be read') });
  }
}

function offsetOf(document: Document, path: Path, key: PropertyKey | undefined): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = nodeAt(document, path.slice(0, length));
    if (key !== undefined && length === path.length && isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key);
      if (pair && isNode(pair.key)) return pair.key.range?.[0];
    }
    if (node?.range) return node.range[0];
  }
  return 0;
}

function nodeAt(document: Document, path: Path): Node | undefined {
  if (path.length === 0) return document.contents ?? undefined;
  const node: unknown = document.getIn(path, true);
  return isNode(node) ? node : undefined;
}

function seenText(document: Document, path: Path): string | undefined {
  const node = nodeAt(document, path);
  if (node === undefined) return undefined;
  if (SECRET_KEY.test(String(path.at(-1) ?? ''))) return 'a value that is not shown';
  if (!isScalar(node)) return isMap(node) ? 'a mapping' : 'a list';
  const text = typeof node.source === 'string' ? node.source : String(node.value);
  const quoted = `\`${text.length > SEEN_CHARS ? `${text.slice(0, SEEN_CHARS)}…` : text}\``;
  return typeof node.value === 'string' && node.type === 'PLAIN'
    ? quoted
    : `${quoted} (${node.value === null ? 'nothing' : typeof node.value})`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
