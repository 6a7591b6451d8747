/** Where a verb writes. stdout carries data, stderr messages. */
export interface Output {
  /** One value per line with `--json`, else a table row or a block for people. */
  readonly data: (values: readonly object[], columns?: readonly string[]) => void;
  /** One line of data as it is, such as a token for a shell. */
  readonly raw: (text: string) => void;
  readonly say: (text: string) => void;
}

interface Streams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

export function createOutput(json: boolean, { stdout, stderr }: Streams): Output {
  return {
    data: (values, columns) => {
      const lines = json ? values.map((value) => JSON.stringify(value)) : table(values, columns);
      for (const line of lines) stdout.write(`${line}\n`);
    },
    raw: (text) => {
      stdout.write(`${text}\n`);
    },
    say: (text) => {
      stderr.write(`${text}\n`);
    },
  };
}

/** Rows as columns of equal width; without `columns` each value is shown as indented JSON. */
export function table(values: readonly object[], columns?: readonly string[]): string[] {
  if (columns === undefined) return values.map((value) => JSON.stringify(value, null, 2));
  const rows = values.map((value) => columns.map((column) => cell((value as Record<string, unknown>)[column])));
  const all = [columns.map((column) => column.toUpperCase()), ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** CAUTION: what a server or model wrote may hold terminal commands; control characters are shown, not sent. */
export function cell(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '-' : JSON.stringify(value);
  return visible(text);
}

export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
