import { Controller } from '@nestjs/common';
import { type EventInput, Handles, type LaneBatch, type LaneInput } from '@lineclear/messaging';
import { POLICY_FLOORS } from '../postgres/policy-floor-store.js';
import { POLICY_FLOOR } from '../postgres/tables.js';

const EVENTS = ['policy-set.activated'] as const;

/** Keeps the policies topic as a table: permits of versions below its floor are refused. An older activation changes nothing. */
@Controller()
export class PoliciesConsumer {
  @Handles({ events: EVENTS, dropped: EVENTS }, { batch: true })
  async handleActivated(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
    await batch.load(POLICY_FLOORS, [...new Set(inputs.map(({ key }) => key))]);
    for (const input of inputs)
      batch.attempt(input, (writes) => {
        if (!isActivation(input)) return;
        const { version, notBeforeVersion, hash } = input.event.data;
        const known = batch.state(POLICY_FLOORS, input.key);
        if (known !== undefined && known.version >= version) return;
        writes.put(POLICY_FLOOR, {
          set_name: input.key,
          version,
          not_before_version: notBeforeVersion,
          hash,
          activated_at: batch.now,
        });
        writes.setState(POLICY_FLOORS, input.key, { version });
      });
  }
}

const isActivation = (input: LaneInput): input is EventInput<'policy-set.activated'> =>
  input.kind === 'event' && input.name === 'policy-set.activated';
