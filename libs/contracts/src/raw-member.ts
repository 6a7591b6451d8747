/**
 * The source text of a member of a JSON object, unchanged (JSON.parse would round long numbers and lose spelling); of repeated members the last,
 * as JSON.parse takes it. `text` must be a JSON object that JSON.parse accepts and that has the member.
 */
export function rawMember(text: string, name: string): string {
  let found = '';
  let at = text.indexOf('{') + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] !== '"') return found;
    const keyEnd = valueEnd(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const start = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const end = valueEnd(text, start);
    if (key === name) found = text.slice(start, end);
    at = skipSpace(text, end) + 1;
  }
}

const skipSpace = (text: string, at: number): number => {
  while (/\s/.test(text[at] ?? '')) at++;
  return at;
};

/** Index behind the value that starts at `at`: a comma or closing bracket outside strings and at depth 0 ends it. */
function valueEnd(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      i = stringEnd(text, i);
      if (depth === 0) return i + 1;
    } else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') {
      if (depth === 0) return trimmedEnd(text, i);
      if (--depth === 0) return i + 1;
    } else if (char === ',' && depth === 0) return trimmedEnd(text, i);
  }
  return text.length;
}

function stringEnd(text: string, open: number): number {
  let i = open + 1;
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

function trimmedEnd(text: string, end: number): number {
  while (/\s/.test(text[end - 1] ?? '')) end--;
  return end;
}
