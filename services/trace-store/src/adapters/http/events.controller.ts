import { Controller, Get, Headers, Inject, Query, type StreamableFile } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { CLOSING, CurrentPrincipal, Describe, eventStream } from '@lineclear/host';
import { z } from 'zod';
import { structuredText } from '../../domain/archived-event.js';
import { Archive } from '../postgres/archive.js';

const PAGE = 200;

const position = z.coerce.number().int().nonnegative();
const tailQuery = z.strictObject({ after: position.optional(), runId: z.string().min(1).max(200).optional() });

/** The live list of what happens in the caller's tenant. */
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly archive: Archive,
    @Inject(CLOSING) private readonly closing: AbortSignal,
  ) {}

  @Get()
  @Describe({
    summary: 'Events of the tenant as they are archived (SSE), after `after` or Last-Event-ID, else from now on.',
  })
  async tail(
    @Query({ schema: tailQuery }) query: z.infer<typeof tailQuery>,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<StreamableFile> {
    const seen = position.safeParse(lastEventId).data;
    let after = seen ?? query.after ?? (await this.archive.now());
    return eventStream({
      closing: this.closing,
      read: async () => {
        const events = await this.archive.tail({ tenant, after, subject: query.runId, limit: PAGE });
        after = events.at(-1)?.arrival ?? after;
        return events.map((event) => ({
          id: String(event.arrival),
          event: event.type,
          data: structuredText(event),
        }));
      },
    });
  }
}
