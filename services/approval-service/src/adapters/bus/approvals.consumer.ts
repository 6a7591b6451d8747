import { Controller } from '@nestjs/common';
import { Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { handleApprovals } from '../../application/handle-approvals.js';
import { DECIDE, EXPIRY } from '../../application/names.js';

/** One handler for all, so that the inputs of a run keep their order: a click, the expiry and a stop meet here. */
@Controller()
export class ApprovalsConsumer {
  @Handles(
    {
      events: ['tool-call.referred', 'run.stop-started'],
      dropped: ['tool-call.referred'],
      commands: [DECIDE],
      timers: [EXPIRY],
    },
    { batch: true },
  )
  async handleApprovals(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await handleApprovals(inputs, batch);
  }
}
