import { AppError, type AppErrorOptions } from './app-error.js';
import type { ErrorCode } from './codes.js';

/** One thing that an operator must change. `seen` is shown as given, so pass no secret. */
export interface ConfigFault {
  /** The file or environment variable, or another name that the operator knows. */
  readonly where: string;
  /** 1-based, for files. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** What is wrong, as a clause: "key `stepz` is unknown". */
  readonly what: string;
  readonly seen?: string | undefined;
  readonly expected?: string | undefined;
  /** The next step, as an order: "remove the key". */
  readonly next?: string | undefined;
}

/** A file, an environment variable or the machine is not as the product needs it; found at start, never retried. */
export class ConfigError extends AppError {
  readonly disposition = 'terminal';

  constructor(
    readonly faults: readonly [ConfigFault, ...ConfigFault[]],
    options: Pick<AppErrorOptions, 'cause'> & { readonly code?: ErrorCode } = {},
  ) {
    super(options.code ?? 'bad-config', faults.map(sentence).join('\n'), { details: { faults }, cause: options.cause });
  }
}

function sentence(fault: ConfigFault): string {
  const place = [fault.where, fault.line, fault.column].filter((part) => part !== undefined).join(':');
  const parts = [
    fault.what,
    fault.seen === undefined ? undefined : `seen ${fault.seen}`,
    fault.expected === undefined ? undefined : `expected ${fault.expected}`,
    fault.next,
  ];
  return `${place}: ${parts.filter((part) => part !== undefined).join('; ')}`;
}
