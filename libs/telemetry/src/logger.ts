import { ConfigError } from '@lineclear/errors';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { plainValue } from './plain-value.js';

export type { Logger };

export interface LoggerOptions {
  readonly service: string;
  /** Default LOG_LEVEL, else `info`. */
  readonly level?: string | undefined;
  /** Default standard error; standard output belongs to data. */
  readonly stream?: DestinationStream;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
/** Secrets inside text: bearer tokens, JWTs, passwords in addresses. None of them can hold a quote, so the line stays JSON. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic) [\w.~+/=-]{8,}/gi, '$1 [redacted]'],
  [/\beyJ[\w-]{8,2000}\.[\w-]+\.[\w-]*/g, '[redacted token]'],
  [/(\/\/[^\s:@/"\\]*:)[^\s@/"\\]+@/g, '$1[redacted]@'],
];

/**
 * A JSON-lines logger. Fields may hold anything: they are cut, cycles and throwing getters do no harm, secrets are replaced. Lines written
 * inside a span name its trace. Writing never throws, also when the terminal went away.
 * @throws ConfigError for a level that does not exist
 */
export function createLogger(options: LoggerOptions): Logger {
  const level = (options.level ?? process.env.LOG_LEVEL ?? '') || 'info';
  if (!LEVELS.includes(level)) {
    throw new ConfigError([
      {
        where: 'LOG_LEVEL',
        what: 'the level is not known',
        seen: `\`${level}\``,
        expected: LEVELS.join(', '),
        next: 'correct it',
      },
    ]);
  }
  const logger = pino(
    {
      level,
      base: { service: options.service },
      timestamp: stdTimeFunctions.isoTime,
      serializers: { err: (plain: unknown) => plain },
      formatters: { level: (label) => ({ level: label }), log: plainFields },
      mixin: traceFields,
      hooks: { streamWrite: withoutSecrets },
    },
    options.stream ?? standardError(),
  );
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its `this` below
  const { child } = logger;
  logger.child = function plainChild(this: Logger, bindings: Record<string, unknown>, childOptions?: object) {
    return child.call(this, plainFields(bindings), childOptions);
  } as Logger['child'];
  return logger;
}

function plainFields(fields: Record<string, unknown>): Record<string, unknown> {
  const plain = plainValue(fields, { maxChars: 16_384 });
  return typeof plain === 'object' && plain !== null && !Array.isArray(plain) ? plain : { fields: plain };
}

function traceFields(): object {
  const context = trace.getActiveSpan()?.spanContext();
  return context !== undefined && isSpanContextValid(context)
    ? { traceId: context.traceId, spanId: context.spanId }
    : {};
}

function withoutSecrets(line: string): string {
  return SECRET_TEXTS.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
}

function standardError(): DestinationStream {
  const stream = destination({ dest: 2, sync: true });
  stream.on('error', () => undefined);
  return stream;
}
