import { Controller, Inject } from '@nestjs/common';
import type { EventData, EventName } from '@lineclear/contracts';
import {
  defineTable,
  type EventInput,
  Handles,
  type LaneBatch,
  type LaneInput,
  type ReadHandle,
  type StateStore,
} from '@lineclear/messaging';
import { MEMORY_CONFIG, type MemoryStoreConfig } from '../../config.js';
import type { Fact } from '../../domain/fact.js';
import { boundedRecall, labelOf } from '../../domain/recall.js';
import { recallFacts } from '../postgres/fact-recall.js';

const RECALL_TABLE = defineTable({ name: 'recall', columns: { run_id: 'text', event_id: 'text' }, key: ['run_id'] });

/** Facts beyond `k` that are read, so that one too large for the token cap does not leave a gap. */
const SPARE = 5;

/** Which runs were answered already: a redelivered run.started must not be answered anew from facts that changed meanwhile. */
const ANSWERED: StateStore<true> = {
  name: 'recall',
  async load(keys, read: ReadHandle) {
    const rows = await read.query<{ run_id: string }>('SELECT run_id FROM recall WHERE run_id = ANY($1)', [keys]);
    return new Map(rows.map((row) => [row.run_id, true]));
  },
};

/** Answers every run that starts with what the store knows about the subject it acts for. */
@Controller()
export class RecallConsumer {
  constructor(@Inject(MEMORY_CONFIG) private readonly config: MemoryStoreConfig) {}

  @Handles({ events: ['run.started'] }, { batch: true })
  async handleRunStarted(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    const started = inputs.filter((input) => isEvent(input, 'run.started'));
    await batch.load(
      ANSWERED,
      started.map((input) => input.key),
    );
    const fresh = started.filter((input) => batch.state(ANSWERED, input.key) === undefined);
    const found = await recallFacts(
      batch.read,
      fresh.map(({ event }) => requestOf(event.data)),
    );
    for (const [n, input] of fresh.entries())
      batch.attempt(input, (writes) => {
        const { k } = input.event.data.recall;
        const facts = boundedRecall(found[n] ?? [], k, this.config.recallMaxTokens);
        writes.insert(RECALL_TABLE, { run_id: input.key, event_id: input.event.id });
        writes.setState(ANSWERED, input.key, true);
        writes.emit({
          name: 'memory.recalled',
          key: input.key,
          tenant: input.event.tenant,
          data: { facts: facts.map(factData) },
          correlationId: input.event.correlationid,
          label: labelOf(facts),
        });
      });
    for (const input of started) if (!fresh.includes(input)) batch.attempt(input, () => undefined);
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
