import { Controller, Get, Headers, Inject, Param, type StreamableFile } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { NotFoundError } from '@lineclear/errors';
import { CLOSING, CurrentPrincipal, Describe, eventStream } from '@lineclear/host';
import { RunEvents } from '../../projections/run-events.js';
import { Runs } from '../../projections/runs.js';

@Controller('v1/runs')
export class RunEventsController {
  constructor(
    private readonly runs: Runs,
    @Inject(CLOSING) private readonly closing: AbortSignal,
  ) {}

  @Get(':id/events')
  @Describe({ summary: 'Follows a run: its events so far, then those to come (server-sent events).' })
  async follow(
    @Param('id') runId: string,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<StreamableFile> {
    if (!(await this.runs.exists(tenant, runId))) throw new NotFoundError(`run \`${runId}\` does not exist`);
    const events = new RunEvents(runId, this.runs.read, lastEventId);
    return eventStream({ read: () => events.read(), isComplete: () => events.isComplete, closing: this.closing });
  }
}
