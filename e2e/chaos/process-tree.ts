import { readdirSync, readFileSync } from 'node:fs';

/** A process by pid and start time, so that a pid used again is not mistaken for it. */
export interface ProcessId {
  readonly pid: number;
  readonly startedAt: string;
  readonly command: string;
}

interface Row extends ProcessId {
  readonly parent: number;
}

/** The process and all its descendants as /proc shows them now (Linux). */
export function processTree(root: number): ProcessId[] {
  const rows = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => rowOf(Number(name)) ?? []);
  const found: Row[] = rows.filter(({ pid }) => pid === root);
  for (let index = 0; index < found.length; index += 1)
    found.push(...rows.filter(({ parent }) => parent === found[index]?.pid));
  return found;
}

/** Those that still run; a zombie that only waits for its parent does not. */
export function stillRunning(processes: readonly ProcessId[]): ProcessId[] {
  return processes.filter(({ pid, startedAt }) => rowOf(pid)?.startedAt === startedAt);
}

function rowOf(pid: number): Row | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(fields[1]), startedAt: fields[19] ?? '', command };
  } catch {
    return undefined;
  }
}
