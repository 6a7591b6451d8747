import { Readable } from 'node:stream';
import { Controller, Get, Param, StreamableFile } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { CurrentPrincipal, Describe } from '@lineclear/host';
import { z } from 'zod';
import { type ArchivedEvent, nameOf, structuredText } from '../../domain/archived-event.js';
import { type RunTree, runTree } from '../../domain/run-tree.js';
import { Archive } from '../postgres/archive.js';

const runId = z.string().min(1).max(200);

const timelineEntry = z.object({
  id: z.string(),
  name: z.string(),
  at: z.iso.datetime(),
  source: z.string(),
  causedBy: z.string().nullable(),
  label: z.object({ confidentiality: z.string(), integrity: z.string() }),
  data: z.unknown(),
});

const timeline = z.object({ runId: z.string(), items: z.array(timelineEntry) });

/** What happened in a run, from the archive. */
@Controller('v1/runs/:id')
export class RunTraceController {
  constructor(private readonly archive: Archive) {}

  @Get('timeline')
  @Describe({ summary: 'Every event of a run in causal order.', answer: timeline })
  async timeline(
    @Param('id', { schema: runId }) id: string,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<z.infer<typeof timeline>> {
    return { runId: id, items: (await this.archive.run(tenant, id)).map(entryOf) };
  }

  @Get('tree')
  @Describe({ summary: 'A run as model calls, turns and what became of each call.' })
  async tree(@Param('id', { schema: runId }) id: string, @CurrentPrincipal() { tenant }: Principal): Promise<RunTree> {
    return runTree(id, await this.archive.run(tenant, id));
  }

  @Get('events.jsonl')
  @Describe({ summary: 'The recorded history of a run: one CloudEvent a line, for replay anywhere.' })
  async history(
    @Param('id', { schema: runId }) id: string,
    @CurrentPrincipal() { tenant }: Principal,
  ): Promise<StreamableFile> {
    const events = await this.archive.run(tenant, id);
    return new StreamableFile(Readable.from(lines(events), { objectMode: false }), { type: 'application/jsonl' });
  }
}

function* lines(events: readonly ArchivedEvent[]): Generator<string> {
  for (const event of events) yield `${structuredText(event)}\n`;
}

function entryOf(event: ArchivedEvent): z.infer<typeof timelineEntry> {
  const { id, time, source, causationid, confidentiality, integrity, dataText } = event;
  return {
    id,
    name: nameOf(event),
    at: time,
    source,
    causedBy: causationid ?? null,
    label: { confidentiality, integrity },
    data: JSON.parse(dataText),
  };
}
