import { readFile } from 'node:fs/promises';
import { UsageError } from './verb.js';

/** Text of a file, `-` for standard input. Throws UsageError when it cannot be read. */
export async function readText(path: string): Promise<string> {
  try {
    if (path !== '-') return await readFile(path, 'utf8');
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  } catch (cause) {
    throw new UsageError(`\`${path}\` cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** A JSON object in a file. Throws UsageError saying where it stops being one. */
export async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const text = await readText(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`\`${path}\` is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(
      `\`${path}\` holds ${Array.isArray(value) ? 'a list' : String(value)}, expected a JSON object`,
    );
  return value as Record<string, unknown>;
}
