import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Requests remembered at once; those that the schema refuses are never taken. */
const LIMIT = 4096;

/**
 * Passes stdin on and remembers, per request id, the text of `params.arguments` as it was sent: the ledger is compared byte for byte, and a
 * parsed value may have lost digits.
 */
export class RawArguments extends Transform {
  #decoder = new StringDecoder('utf8');
  #rest = '';
  #byId = new Map();

  /** Text of the arguments of the request, `{}` when it had none. */
  take(id) {
    const text = this.#byId.get(id) ?? '{}';
    this.#byId.delete(id);
    return text;
  }

  _transform(chunk, _encoding, done) {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop();
    for (const line of lines) this.#remember(line);
    done(null, lines.map((line) => `${line}\n`).join(''));
  }

  #remember(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (message?.method !== 'tools/call') return;
    const params = member(line, 'params');
    const text = params === undefined ? undefined : member(params, 'arguments');
    if (text !== undefined) this.#byId.set(message.id, text);
    if (this.#byId.size > LIMIT) this.#byId.delete(this.#byId.keys().next().value);
  }
}

/** The text of a member's value in the text of a valid JSON object; of the last one when the name comes twice, as JSON.parse does. */
export function member(text, name) {
  let found;
  let at = skipBlanks(text, text.indexOf('{') + 1);
  while (text[at] !== '}' && at < text.length) {
    const keyEnd = endOfValue(text, at);
    const key = JSON.parse(text.slice(at, keyEnd));
    const start = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    if (key === name) found = text.slice(start, end);
    at = skipBlanks(text, end);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return found;
}

function skipBlanks(text, at) {
  while (at < text.length && ' \t\r\n'.includes(text[at])) at += 1;
  return at;
}

function endOfValue(text, at) {
  if (text[at] === '"') return endOfString(text, at);
  let depth = 0;
  for (; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at) - 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (depth === 0 && ',}] \t\r'.includes(char)) return at;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return at;
}

function endOfString(text, at) {
  for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  return at + 1;
}
