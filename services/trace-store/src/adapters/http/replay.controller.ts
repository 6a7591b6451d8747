import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { eventNameOf, type Principal } from '@lineclear/contracts';
import { CurrentPrincipal, Describe, Roles } from '@lineclear/host';
import { type ReplayVerdict, replay } from '@lineclear/run';
import { z } from 'zod';
import type { ArchivedEvent } from '../../domain/archived-event.js';
import { Archive } from '../postgres/archive.js';

const verdict = z.object({
  identical: z.boolean(),
  events: z.int(),
  firstDifference: z
    .object({
      index: z.int(),
      event: z.string(),
      path: z.string(),
      recorded: z.unknown(),
      replayed: z.unknown(),
    })
    .nullable(),
});

/** Decides a recorded run again with the code of today and compares; nothing outside is called. */
@Controller('v1/runs/:id/replay')
export class ReplayController {
  constructor(private readonly archive: Archive) {}

  @Post()
  @HttpCode(200)
  @Roles('operator')
  @Describe({ summary: 'Replays a run from its recorded inputs and names the first difference.', answer: verdict })
  async replay(
    @Param('id', { schema: z.string().min(1).max(200) }) id: string,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<ReplayVerdict> {
    return replay(id, (await this.archive.run(tenant, id)).flatMap(knownEvent));
  }
}

function knownEvent({ id, source, type, time, dataText }: ArchivedEvent) {
  const name = eventNameOf(type);
  return name === undefined ? [] : [{ id, source, name, time, data: JSON.parse(dataText) as unknown }];
}
