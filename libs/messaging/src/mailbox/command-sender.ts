import type { Principal } from '@lineclear/contracts';
import type { CommandResult, NewCommand } from '../lane/batch.js';

export interface CommandRequest {
  readonly name: string;
  readonly key: string;
  readonly tenant: string;
  readonly payload: unknown;
  readonly by: Principal | null;
  /** default: a random id; a derived one is accepted once */
  readonly id?: string;
}

/** How anyone but the owner reaches a shard. Inserts into the mailbox and waits for the result that the owner's statement wrote. */
export interface CommandSender {
  /** Throws TransientError(`timed-out`) when no owner answered in `waitMs` (default 10,000); the command may still be done. */
  send(request: CommandRequest, options?: { waitMs?: number }): Promise<CommandResult>;
  /** Inserts commands that nobody waits for, all or none; one whose id is known is not taken again. @throws TransientError */
  post(commands: readonly NewCommand[]): Promise<void>;
}

/** Injection token of the service's CommandSender. */
export const COMMAND_SENDER = Symbol('COMMAND_SENDER');
