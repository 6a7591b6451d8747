import { Controller, Inject } from '@nestjs/common';
import type { EventData, EventName } from '@lineclear/contracts';
import { type EventInput, Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { MEMORY_CONFIG, type MemoryStoreConfig } from '../../config.js';
import type { Fact } from '../../domain/fact.js';
import { boundedRecall, labelOf } from '../../domain/recall.js';
import { recallFacts } from '../postgres/fact-recall.js';

/** Facts beyond `k` that are read, so that one too large for the token cap does not leave a gap. */
const SPARE = 5;

/** CAUTION: persisted. A redelivered run.started is not answered anew from facts that changed meanwhile. */
const CONSUMER = 'memory-store';

/** Answers every run that starts with what the store knows about the subject it acts for. */
@Controller()
export class RecallConsumer {
  constructor(@Inject(MEMORY_CONFIG) private readonly config: MemoryStoreConfig) {}

  @Handles({ events: ['run.started'], inbox: CONSUMER }, { batch: true })
  async handleRunStarted(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    const started = inputs.filter((input) => isEvent(input, 'run.started'));
    const found = await recallFacts(
      batch.read,
      started.map(({ event }) => requestOf(event.data)),
    );
    for (const [n, input] of started.entries())
      batch.attempt(input, (writes) => {
        const { k } = input.event.data.recall;
        const facts = boundedRecall(found[n] ?? [], k, this.config.recallMaxTokens);
        writes.emit({
          name: 'memory.recalled',
          key: input.key,
          tenant: input.event.tenant,
          data: { facts: facts.map(factData) },
          correlationId: input.event.correlationid,
          label: labelOf(facts),
        });
      });
  }
}

function requestOf({ principal, recall }: EventData<'run.started'>) {
  const limit = recall.k === 0 ? 0 : recall.k + SPARE;
  return { tenant: principal.tenant, subject: principal.subject, query: recall.query, limit };
}

const factData = ({ id, text, source, eventTime, label }: Fact) => ({
  id,
  text,
  source,
  eventTime: eventTime.toISOString(),
  label,
});

const isEvent = <N extends EventName>(input: LaneInput, name: N): input is EventInput<N> =>
  input.kind === 'event' && input.name === name;
