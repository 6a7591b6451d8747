import { EVENTS, type EventName, type ServiceName } from '@lineclear/contracts';
import { InvariantViolationError } from '@lineclear/errors';
import type { BatchHandler, JobExecutor, JobKind, Patterns, SingleHandler } from './handlers.js';
import type { LaneInput } from './input.js';

/** A handler as the lane calls it. */
export type Handler = {
  /** for logs: class and method */
  readonly name: string;
  readonly patterns: Patterns;
} & (
  | { readonly batch: true; readonly handle: BatchHandler }
  | { readonly batch: false; readonly handle: SingleHandler }
);

export interface Executor {
  readonly kind: JobKind;
  readonly execute: JobExecutor;
}

type InputKind = LaneInput['kind'];

/** Which handler takes what. One handler per pattern: two would need an order between their writes. */
export class HandlerRegistry {
  readonly #byKind = new Map<InputKind, Map<string, Handler>>();
  readonly #anyEvent: Handler | undefined;
  readonly executors = new Map<string, Executor>();

  /** @throws InvariantViolationError when two handlers name one pattern, or two executors one kind */
  constructor(handlers: readonly Handler[], executors: readonly Executor[]) {
    for (const handler of handlers) {
      for (const [kind, names] of patternsOf(handler.patterns))
        for (const name of names) this.#bind(kind, name, handler);
      if (handler.patterns.anyEvent !== true) continue;
      if (this.#anyEvent !== undefined) throw twice('any event', this.#anyEvent, handler);
      this.#anyEvent = handler;
    }
    for (const executor of executors) {
      const { kind } = executor.kind;
      if (this.executors.has(kind))
        throw new InvariantViolationError('invariant-violated', `two executors are bound to jobs of kind \`${kind}\``);
      this.executors.set(kind, executor);
    }
  }

  find(kind: InputKind, name: string): Handler | undefined {
    return this.#byKind.get(kind)?.get(name) ?? (kind === 'event' ? this.#anyEvent : undefined);
  }

  /** Events that the contracts send to this service and nobody here takes. They are held when they come. */
  unhandled(service: ServiceName): EventName[] {
    return (Object.keys(EVENTS) as EventName[]).filter((name) => {
      const { consumers, topic }: { consumers: readonly ServiceName[]; topic: string } = EVENTS[name];
      return topic !== 'tasks' && consumers.includes(service) && this.find('event', name) === undefined;
    });
  }

  #bind(kind: InputKind, name: string, handler: Handler): void {
    const handlers = this.#byKind.get(kind) ?? new Map<string, Handler>();
    const other = handlers.get(name);
    if (other !== undefined) throw twice(`${kind}/${name}`, other, handler);
    this.#byKind.set(kind, handlers.set(name, handler));
  }
}

function patternsOf(patterns: Patterns): [InputKind, readonly string[]][] {
  return [
    ['event', patterns.events ?? []],
    ['command', patterns.commands ?? []],
    ['timer', patterns.timers ?? []],
    ['job', patterns.jobs ?? []],
    ['dispatch', patterns.dispatches ?? []],
    ['dropped', patterns.dropped ?? []],
  ];
}

function twice(pattern: string, one: Handler, other: Handler): InvariantViolationError {
  return new InvariantViolationError(
    'invariant-violated',
    `\`${pattern}\` is bound to \`${one.name}\` and to \`${other.name}\`; bind it once`,
  );
}
