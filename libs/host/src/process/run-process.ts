import { AppError } from '@lineclear/errors';

export interface Stoppable {
  /** Resolves within the drain limit. */
  stop(): Promise<void>;
  /** Resolves when it cannot go on, with the reason. */
  readonly failed: Promise<unknown>;
}

/** The part of `process` that is used; a test gives its own. */
export interface ProcessPort {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  exit(code: number): void;
}

export interface RunProcessOptions {
  readonly process?: ProcessPort;
  /** for people, one line each: why it stops, why it fails */
  readonly say: (line: string) => void;
  /** for the log: what went wrong, with cause and stack */
  readonly log: (error: unknown, message: string) => void;
  /** a stop that takes longer is cut off; default 12,000 */
  readonly stopLimitMs?: number;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Exit codes are public: 0 stopped as asked, 1 failed, 2 not usable as configured. */
const EXIT = { stopped: 0, failed: 1, config: 2 } as const;

/**
 * Runs something until it is told to stop, and ends the process. A first signal stops it gracefully, a second one at once. An unhandled rejection
 * or exception is a bug: it is logged and the process ends with 1, so that its supervisor starts it anew.
 */
export async function runProcess(start: () => Promise<Stoppable>, options: RunProcessOptions): Promise<void> {
  const end = new Ending(options);
  if (options.process === undefined) surviveLostTerminal();
  for (const signal of SIGNALS) end.port.on(signal, () => end.signalled(signal));
  end.port.on('unhandledRejection', (error) => end.crashed(error));
  end.port.on('uncaughtException', (error) => end.crashed(error));
  let running: Stoppable;
  try {
    running = await start();
  } catch (error) {
    end.notStarted(error);
    return;
  }
  const reason = await Promise.race([end.asked.then(() => undefined), running.failed.then((error) => ({ error }))]);
  if (reason !== undefined) end.failed(reason.error);
  await end.stop(running);
}

/** A reader that goes away is no reason to crash; what is written then is lost. */
function surviveLostTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

class Ending {
  readonly port: ProcessPort;
  readonly asked: Promise<void>;
  readonly #ask: () => void;
  #signals = 0;
  #code: number = EXIT.stopped;

  constructor(private readonly options: RunProcessOptions) {
    this.port = options.process ?? process;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.asked = promise;
    this.#ask = resolve;
  }

  signalled(signal: string): void {
    this.#signals += 1;
    if (this.#signals > 1) {
      this.port.exit(EXIT.failed);
      return;
    }
    this.options.say(`stopping on ${signal}; once more stops at once`);
    this.#ask();
  }

  crashed(error: unknown): void {
    this.options.log(error, 'unhandled error; the process ends');
    this.port.exit(EXIT.failed);
  }

  notStarted(error: unknown): void {
    this.options.say(`not started: ${messageOf(error)}`);
    if (!(error instanceof AppError)) this.options.log(error, 'not started');
    this.port.exit(error instanceof AppError && error.name === 'ConfigError' ? EXIT.config : EXIT.failed);
  }

  failed(error: unknown): void {
    this.#code = EXIT.failed;
    this.options.say(`cannot go on: ${messageOf(error)}`);
    this.options.log(error, 'cannot go on');
  }

  async stop(running: Stoppable): Promise<void> {
    const limit = setTimeout(() => {
      this.options.say('the stop took too long and was cut off; the next start recovers');
      this.port.exit(EXIT.failed);
    }, this.options.stopLimitMs ?? 12_000);
    limit.unref();
    try {
      await running.stop();
    } catch (error) {
      this.options.log(error, 'the stop failed');
      this.#code = EXIT.failed;
    }
    clearTimeout(limit);
    this.port.exit(this.#code);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
