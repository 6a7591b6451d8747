import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { type Principal, runIdOfCall, type ToolResult } from '@lineclear/contracts';
import { NotFoundError } from '@lineclear/errors';
import { CurrentPrincipal, Describe, Roles, unwrap } from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { z } from 'zod';
import { RESOLVE_CALL, type ResolveCall } from '../../application/run-commands.js';
import { type UnknownCall, UnknownCalls } from '../postgres/unknown-calls.js';

const filter = z.strictObject({ status: z.literal('unknown').default('unknown') });
const resolution = z.strictObject({
  outcome: z.enum(['happened', 'not-happened']),
  /** what the tool would have answered: text, or any JSON value */
  result: z.json().optional(),
  reason: z.string().trim().min(1).max(1_000),
});
const call = z.object({
  callId: z.string(),
  runId: z.string(),
  tool: z.string(),
  key: z.string(),
  reason: z.string().nullable(),
  since: z.iso.datetime(),
  resolvableFrom: z.iso.datetime(),
});
const resolved = z.object({ callId: z.string(), outcome: z.string() });

/** Calls whose outcome is unknown, and an operator's word on them. */
@Controller('v1/calls')
@Roles('operator')
export class CallsController {
  constructor(
    private readonly calls: UnknownCalls,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
  ) {}

  @Get()
  @Describe({
    summary: 'Calls of the tenant that may or may not have acted, oldest first.',
    answer: z.object({ items: z.array(call) }),
  })
  async list(
    @Query({ schema: filter }) _asked: z.infer<typeof filter>,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<{ items: UnknownCall[] }> {
    return { items: await this.calls.ofTenant(tenant) };
  }

  @Post(':id/resolve')
  @HttpCode(200)
  @Describe({
    summary: 'Says what became of an unknown call; 409 while an attempt of it could still act.',
    answer: resolved,
  })
  async resolve(
    @Param('id') callId: string,
    @Body({ schema: resolution }) body: z.infer<typeof resolution>,
    @CurrentPrincipal() by: Principal,
  ): Promise<z.infer<typeof resolved>> {
    const runId = runIdOfCall(callId);
    if (runId === undefined) throw new NotFoundError(`there is no call \`${callId.slice(0, 100)}\``);
    const { outcome, reason, result } = body;
    const payload: ResolveCall = {
      callId,
      outcome,
      reason,
      ...(result === undefined ? {} : { result: resultOf(result) }),
    };
    return unwrap(await this.commands.send({ name: RESOLVE_CALL, key: runId, tenant: by.tenant, payload, by }));
  }
}

function resultOf(value: unknown): ToolResult {
  return typeof value === 'string' ? { text: value } : { text: JSON.stringify(value), structured: value };
}
