import { distance } from 'fastest-levenshtein';

/** Names close to what was written, nearest first: at most a third of its letters (at least two) differ, or one contains the other. */
export function nearest(written: string, names: readonly string[], count: number): string[] {
  const word = written.slice(0, 100).toLowerCase();
  const bound = Math.max(2, Math.floor(word.length / 3));
  return names
    .map((name) => ({ name, far: farFrom(word, name.toLowerCase()) }))
    .filter(({ far }) => far <= bound)
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

function farFrom(word: string, name: string): number {
  if (word.length >= 3 && (name.includes(word) || word.includes(name))) return 1;
  return distance(word, name);
}
