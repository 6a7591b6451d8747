import { fromFailure } from '@lineclear/errors';
import type { CommandResult } from '@lineclear/messaging';

/**
 * The value of a command, so that a controller is `return unwrap(await this.commands.send({ ... }))`. Throws the AppError of the failure.
 * The caller names the type: the command's handler wrote the value.
 */
export function unwrap<T = unknown>(result: CommandResult): T {
  if (result.ok) return result.value as T;
  throw fromFailure(result.failure);
}
