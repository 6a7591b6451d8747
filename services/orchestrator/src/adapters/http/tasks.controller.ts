import { Body, Controller, Headers, Inject, Post, Res } from '@nestjs/common';
import { type Principal, runIdOf, type WireHeaders } from '@lineclear/contracts';
import { InvalidMessageError } from '@lineclear/errors';
import { CurrentPrincipal, Describe, RawBody, unwrap } from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { z } from 'zod';
import { SUBMIT_TASK } from '../../application/names.js';
import type { Refusal } from '../../domain/refusal.js';
import { readSubmission } from '../../domain/submission.js';

const answerSchema = z.object({ runId: z.string(), taskId: z.string() });
type Answer = z.infer<typeof answerSchema>;

interface Reply {
  status(code: number): unknown;
}

/** Takes tasks over HTTP, as CloudEvents in structured or binary mode. What is wrong with a task is recorded as `task.refused` and answered. */
@Controller('v1/tasks')
export class TasksController {
  constructor(@Inject(COMMAND_SENDER) private readonly commands: CommandSender) {}

  @Post()
  @RawBody()
  @Describe({
    summary:
      'Submits a task as a CloudEvent; 200 when the same task is known, 409 for the same id with another payload.',
    answer: answerSchema,
  })
  async submit(
    @Headers() headers: WireHeaders,
    @Body() body: Buffer | undefined,
    @CurrentPrincipal() principal: Principal,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<Answer> {
    const read = readSubmission(headers, body ?? Buffer.alloc(0), { binding: 'http' });
    if ('unnamed' in read) throw unnamed(read.unnamed);
    const { submission } = read;
    const { tenant } = principal;
    const runId = runIdOf(tenant, submission.task.source, submission.task.id);
    const result = await this.commands.send({
      name: SUBMIT_TASK,
      key: runId,
      tenant,
      payload: submission,
      by: principal,
    });
    const { known } = unwrap<{ known: boolean }>(result);
    reply.status(known ? 200 : 201);
    return { runId, taskId: submission.task.id };
  }
}

/** Without an id and a source there is nothing to record a refusal under, so this one is only answered. */
function unnamed({ reason, where, seen, expected, next }: Refusal): InvalidMessageError {
  const message = `the event cannot be read: \`${where}\` is \`${seen}\`, expected ${expected}; ${next}`;
  return new InvalidMessageError(reason, message, { details: { where, seen, expected, next } });
}
