/** Wakes its one waiter. A wake that comes while nobody waits is kept, so that none is lost between looking and waiting. */
export class Signal {
  #isSet = false;
  #wake: (() => void) | undefined;

  wake(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  /** Resolves at the next wake, or after that time. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isSet) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#isSet = false;
  }
}
