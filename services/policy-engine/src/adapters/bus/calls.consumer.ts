import { Controller, Inject } from '@nestjs/common';
import { Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { ActivePolicies } from '../../application/active-policies.js';
import { type CallDesk, handleCalls } from '../../application/handle-calls.js';
import { SIGNING_KEYS, type SigningKeys } from '../keys/signing-keys.js';
import { KnownFacts } from '../postgres/batch-facts.js';

const EVENTS = ['tool-call.proposed', 'approval.granted'] as const;

/** Every call and every grant of one, in the order of their run. */
@Controller()
export class CallsConsumer {
  private readonly desk: CallDesk;

  constructor(policies: ActivePolicies, @Inject(SIGNING_KEYS) keys: SigningKeys) {
    this.desk = { policies, keys, facts: new KnownFacts() };
  }

  @Handles({ events: EVENTS, dropped: EVENTS }, { batch: true })
  async handleCalls(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await handleCalls(inputs, batch, this.desk);
  }
}
