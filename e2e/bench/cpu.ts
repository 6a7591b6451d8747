import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** CPU seconds of this process and all its descendants so far, PostgreSQL and tool servers included, ended children too (Linux). */
export function treeCpuSeconds(): number {
  const rows = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(name) ?? []) : []));
  const tree = rows.filter(({ pid }) => pid === process.pid);
  for (let index = 0; index < tree.length; index += 1)
    tree.push(...rows.filter(({ parent }) => parent === tree[index]?.pid));
  return tree.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
}

function statOf(name: string): { pid: number; parent: number; ticks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { pid: Number(name), parent: Number(fields[1]), ticks };
  } catch {
    return undefined;
  }
}

/** Resident memory of this process now, in MiB. */
export const residentMiB = (): number => process.memoryUsage.rss() / 1024 / 1024;
