import type { LoggerService } from '@nestjs/common';
import type { Logger } from '@lineclear/telemetry';

/** Nest's own lines in our log: its chatter is `debug`. */
export function nestLogger(log: Logger): LoggerService {
  const at =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      if (message instanceof Error) log[level]({ err: message, nest: rest }, message.message);
      else log[level]({ nest: rest }, String(message));
    };
  return {
    log: at('debug'),
    debug: at('debug'),
    verbose: at('debug'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('error'),
  };
}
