import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { type Principal, TERMINAL_STATES } from '@lineclear/contracts';
import { NotFoundError } from '@lineclear/errors';
import { CurrentPrincipal, cursorAt, Describe, pageLimit, pageOf, pageStartOf, unwrap } from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { z } from 'zod';
import { CANCEL, type CancelPayload } from '../../application/names.js';
import { type RunView, runPageSchema, runViewSchema } from '../../projections/run-view.js';
import { Runs } from '../../projections/runs.js';

const RUN_STATES = [
  'preparing',
  'reasoning',
  'gating',
  'executing',
  'awaiting',
  'stopping',
  ...TERMINAL_STATES,
] as const;

const listQuery = z.strictObject({
  state: z.enum(RUN_STATES).optional(),
  taskId: z.string().min(1).max(1024).optional(),
  limit: pageLimit(50, 200),
  /** `next` of the page before */
  after: z.string().optional(),
});

const cancelBody = z.strictObject({ reason: z.string().min(1).max(1000).optional() }).optional();
const cancelAnswer = z.object({ runId: z.string(), state: z.string() });

/** The runs of the caller's tenant. */
@Controller('v1/runs')
export class RunsController {
  constructor(
    private readonly runs: Runs,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
  ) {}

  @Get()
  @Describe({ summary: 'Runs of the tenant, newest first.', answer: runPageSchema })
  async list(
    @Query({ schema: listQuery }) query: z.infer<typeof listQuery>,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<z.infer<typeof runPageSchema>> {
    const { state, taskId, limit, after } = query;
    const runs = await this.runs.list({ tenant, state, taskId, limit, after: pageStartOf(after) });
    return pageOf(runs, limit, ({ startedAt, runId }) => cursorAt(startedAt, runId));
  }

  @Get(':id')
  @Describe({ summary: 'One run: state, calls of the present turn, budget.', answer: runViewSchema })
  async show(@Param('id') runId: string, @CurrentPrincipal() { tenant }: Principal): Promise<RunView> {
    const run = await this.runs.find(tenant, runId);
    if (!run) throw new NotFoundError(`run \`${runId}\` does not exist`);
    return run;
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @Describe({ summary: 'Stops a run; 409 when it has ended.', answer: cancelAnswer })
  async cancel(
    @Param('id') runId: string,
    @Body({ schema: cancelBody }) body: z.infer<typeof cancelBody>,
    @CurrentPrincipal() principal: Principal,
  ): Promise<z.infer<typeof cancelAnswer>> {
    const { tenant } = principal;
    if (!(await this.runs.exists(tenant, runId))) throw new NotFoundError(`run \`${runId}\` does not exist`);
    const payload: CancelPayload = body ?? {};
    return unwrap(await this.commands.send({ name: CANCEL, key: runId, tenant, payload, by: principal }));
  }
}
