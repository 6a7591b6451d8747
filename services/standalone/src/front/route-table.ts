export interface TableRoute {
  readonly method: string;
  /** as Fastify writes it: `/v1/runs/:id`, a last `*` takes the rest */
  readonly path: string;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  readonly targets: Map<string, T>;
  readonly rest: Map<string, T>;
}

const node = <T>(): Node<T> => ({ literals: new Map(), parameter: undefined, targets: new Map(), rest: new Map() });

/** Which target serves a request: literal segments win over parameters, parameters over `*`. Built from what the services registered. */
export class RouteTable<T> {
  readonly #root = node<T>();

  /** The first target of a route keeps it. Answers false when it was taken. */
  add({ method, path }: TableRoute, target: T): boolean {
    let at = this.#root;
    const segments = segmentsOf(path);
    for (const segment of segments) {
      if (segment === '*') return claim(at.rest, method, target);
      if (segment.startsWith(':')) at = at.parameter ??= node();
      else {
        const next = at.literals.get(segment) ?? node<T>();
        at.literals.set(segment, next);
        at = next;
      }
    }
    return claim(at.targets, method, target);
  }

  /** `url` is a request target, with or without a query. */
  find(method: string, url: string): T | undefined {
    return search(this.#root, method, segmentsOf(url.split('?', 1)[0] ?? ''), 0);
  }
}

const segmentsOf = (path: string): string[] => path.split('/').slice(1);

function claim<T>(targets: Map<string, T>, method: string, target: T): boolean {
  if (targets.has(method)) return false;
  targets.set(method, target);
  return true;
}

function search<T>(at: Node<T>, method: string, segments: readonly string[], depth: number): T | undefined {
  const segment = segments[depth];
  if (segment === undefined) return at.targets.get(method);
  const literal = at.literals.get(segment);
  return (
    (literal && search(literal, method, segments, depth + 1)) ??
    (at.parameter && segment !== '' ? search(at.parameter, method, segments, depth + 1) : undefined) ??
    at.rest.get(method)
  );
}
