import { inspect } from 'node:util';

/** A value that no log, error, event or JSON text ever shows. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** CAUTION: only for the environment of the process that needs it, and for removing it from what that process prints. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
