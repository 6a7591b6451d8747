/** What must be taken down, in the opposite order of how it was put up. Each part is tried, whatever happens to the others. */
export class Undo {
  readonly #steps: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;

  constructor(private readonly failed: (error: unknown) => void) {}

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** May be called again; the first call's promise is the answer. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    for (const step of this.#steps.reverse())
      try {
        await step();
      } catch (error) {
        this.failed(error);
      }
  }
}
