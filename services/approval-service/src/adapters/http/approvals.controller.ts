import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { NotFoundError } from '@lineclear/errors';
import {
  CurrentPrincipal,
  cursorAt,
  Describe,
  pageLimit,
  pageOf,
  pageSchema,
  pageStartOf,
  unwrap,
} from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { z } from 'zod';
import { type ApprovalView, approvalView, approvalViewSchema } from '../../application/approval-view.js';
import { DECIDE, type DecidePayload } from '../../application/names.js';
import { type Approval, APPROVAL_STATUSES } from '../../domain/approval.js';
import { Approvals } from '../postgres/approvals.js';

const listQuery = z.strictObject({
  status: z.enum(APPROVAL_STATUSES).optional(),
  runId: z.string().min(1).max(200).optional(),
  limit: pageLimit(100, 500),
  /** `next` of the page before */
  after: z.string().optional(),
});

/** Judged by the domain at the time of the database, so that a refused attempt is recorded too. */
const decisionBody = z.record(z.string(), z.unknown());

/** The approval requests of the caller's tenant. */
@Controller('v1/approvals')
export class ApprovalsController {
  constructor(
    private readonly approvals: Approvals,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
  ) {}

  @Get()
  @Describe({ summary: 'Approval requests of the tenant, oldest first.', answer: pageSchema(approvalViewSchema) })
  async list(
    @Query({ schema: listQuery }) query: z.infer<typeof listQuery>,
    @CurrentPrincipal() { tenant }: Principal,
  ) {
    const { status, runId, limit, after } = query;
    const approvals = await this.approvals.list({ tenant, status, runId, limit, after: pageStartOf(after) });
    return pageOf(approvals.map(approvalView), limit, ({ requestedAt, approvalId }) =>
      cursorAt(requestedAt, approvalId),
    );
  }

  @Get(':id')
  @Describe({ summary: 'One request with its full arguments.', answer: approvalViewSchema })
  async show(@Param('id') approvalId: string, @CurrentPrincipal() { tenant }: Principal): Promise<ApprovalView> {
    return approvalView(await this.find(tenant, approvalId));
  }

  @Post(':id/decision')
  @HttpCode(200)
  @Describe({
    summary: 'Approve, edit or deny exactly this call; 409 when it was decided otherwise or has expired.',
    answer: approvalViewSchema,
  })
  async decide(
    @Param('id') approvalId: string,
    @Body({ schema: decisionBody }) decision: z.infer<typeof decisionBody>,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ApprovalView> {
    const { tenant, runId } = await this.find(principal.tenant, approvalId);
    const payload: DecidePayload = { approvalId, decision };
    return unwrap(await this.commands.send({ name: DECIDE, key: runId, tenant, payload, by: principal }));
  }

  private async find(tenant: string, approvalId: string): Promise<Approval> {
    const approval = await this.approvals.find(tenant, approvalId);
    if (approval === undefined) throw new NotFoundError(`approval \`${approvalId}\` does not exist`);
    return approval;
  }
}
