/** The part of a pino logger that messaging uses. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const nothing = () => undefined;

export const SILENT: Log = { info: nothing, warn: nothing, error: nothing };
