/** Wakes whoever waits; what happens between two waits is not lost only if the waiter looks before it waits. */
export class Signal {
  #waiting = Promise.withResolvers<void>();

  wake(): void {
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers<void>();
  }

  /** Resolves at the next wake, or after that time. */
  async wait(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    await Promise.race([this.#waiting.promise, promise]);
    clearTimeout(timer);
  }
}
