import { Controller } from '@nestjs/common';
import { Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { CATALOGUE_COMMANDS } from '../../application/catalogue-commands.js';
import { handleCatalogue } from '../../application/handle-catalogue.js';

@Controller()
export class CatalogueConsumer {
  @Handles({ commands: CATALOGUE_COMMANDS }, { batch: true })
  async handleCommands(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await handleCatalogue(inputs, batch);
  }
}
