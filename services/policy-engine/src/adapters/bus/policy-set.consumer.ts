import { Controller } from '@nestjs/common';
import { Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { handlePolicySetCommands } from '../../application/activate-policy-set.js';
import { ACTIVATE_POLICY_SET, REVOKE_AUTHORIZATIONS } from '../../application/policy-set-commands.js';

@Controller()
export class PolicySetConsumer {
  @Handles({ commands: [ACTIVATE_POLICY_SET, REVOKE_AUTHORIZATIONS] }, { batch: true })
  async handleCommands(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await handlePolicySetCommands(inputs, batch);
  }
}
