import { canonicalJson } from '@lineclear/contracts';

export interface Difference {
  /** position among the run's own events, from 0 */
  readonly index: number;
  readonly event: string;
  /** JSON pointer into the data, '' = the event as a whole */
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** The first place, in the order of sorted keys, where two JSON values differ. An absent value reads as null. */
export function firstDifference(recorded: unknown, replayed: unknown, path = ''): Omit<Difference, 'index' | 'event'> {
  if (isContainer(recorded) && isContainer(replayed) && Array.isArray(recorded) === Array.isArray(replayed)) {
    for (const key of [...new Set([...Object.keys(recorded), ...Object.keys(replayed)])].toSorted(byKey)) {
      const [a, b] = [valueAt(recorded, key), valueAt(replayed, key)];
      if (textOf(a) !== textOf(b))
        return firstDifference(a, b, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    }
  }
  return { path, recorded: recorded ?? null, replayed: replayed ?? null };
}

type Container = Readonly<Record<string, unknown>>;

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

const byKey = (a: string, b: string): number => {
  const numbers = Number(a) - Number(b);
  return Number.isNaN(numbers) ? (a < b ? -1 : 1) : numbers;
};
const valueAt = (container: Container, key: string): unknown =>
  Object.hasOwn(container, key) ? container[key] : undefined;
const textOf = (value: unknown): string => (value === undefined ? '' : canonicalJson(value));
