import { distance } from 'fastest-levenshtein';

const SHOWN = 3;

/** The names most like the given one, nearest first, quoted for a message; `none` when there is none at all. */
export function nearestNames(name: string, names: readonly string[]): string {
  const sorted = names
    .map((other) => ({ other, apart: distance(name.slice(0, 100), other) }))
    .toSorted((a, b) => a.apart - b.apart || a.other.localeCompare(b.other));
  if (sorted.length === 0) return 'none';
  return sorted
    .slice(0, SHOWN)
    .map(({ other }) => `\`${other}\``)
    .join(', ');
}
