import { readFile } from 'node:fs/promises';

/** One line of the ERP's own ledger: what really happened, written by the ERP and by nobody else. */
export interface LedgerLine {
  readonly key: string;
  readonly runId: string;
  readonly callId: string;
  readonly authorizationId: string;
  readonly tool: string;
  /** the arguments as the bytes that arrived */
  readonly argumentsRaw: string;
  readonly at: string;
}

/** All effects of a tenant, in order; none when nothing was ever written. Throws Error naming a line that is not whole. */
export async function readLedger(file: string): Promise<LedgerLine[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      try {
        return JSON.parse(line) as LedgerLine;
      } catch {
        throw new Error(`${file}:${index + 1}: not a ledger line: ${line.slice(0, 80)}`);
      }
    });
}

/** Business identity of a posting. */
export function postingOf(line: LedgerLine): string {
  const { supplier, number } = JSON.parse(line.argumentsRaw) as { supplier?: string; number?: string };
  return `${supplier ?? ''} ${number ?? ''}`;
}
