import { Controller } from '@nestjs/common';
import { type EventInput, Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { CATALOG_STORE } from '../postgres/catalog-store.js';
import { CATALOG_TOOL } from '../postgres/tables.js';

/** Keeps the catalog topic as a table. An update that is older than the row changes nothing. */
@Controller()
export class CatalogConsumer {
  @Handles({ events: ['tool.updated'] }, { batch: true })
  async handleToolUpdated(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await batch.load(CATALOG_STORE, [...new Set(inputs.map(({ key }) => key))]);
    for (const input of inputs) {
      batch.attempt(input, (writes) => {
        if (!isUpdate(input)) return;
        const sequence = BigInt(input.event.sequence ?? 0);
        const known = batch.state(CATALOG_STORE, input.key);
        if (known !== undefined && sequence < known.sequence) return;
        const { definitionHash, traits, schema, status } = input.event.data;
        writes.put(CATALOG_TOOL, {
          name: input.key,
          definition_hash: definitionHash,
          traits: JSON.stringify(traits),
          schema: JSON.stringify(schema),
          status,
          sequence: String(sequence),
        });
        writes.setState(CATALOG_STORE, input.key, { sequence });
      });
    }
  }
}

const isUpdate = (input: LaneInput): input is EventInput<'tool.updated'> =>
  input.kind === 'event' && input.name === 'tool.updated';
