import { NotFoundError, toFailure } from '@lineclear/errors';
import type { CommandInput, LaneBatch, LaneInput, WriteSet } from '@lineclear/messaging';
import { POLICY_SET_STORE, type PolicySetState } from '../adapters/postgres/policy-set-store.js';
import { POLICY_SET, POLICY_SET_VERSION } from '../adapters/postgres/tables.js';
import {
  ACTIVATE_POLICY_SET,
  type ActivatedSet,
  type ActivatePolicySet,
  type RevokeAuthorizations,
} from './policy-set-commands.js';

/** Activates changed files as the next version, and revokes older authorizations when an operator says so. */
export async function handlePolicySetCommands(inputs: readonly LaneInput[], batch: LaneBatch): Promise<void> {
  await batch.load(POLICY_SET_STORE, [...new Set(inputs.map(({ key }) => key))]);
  for (const input of inputs) {
    if (input.kind !== 'command') continue;
    batch.attempt(input, (writes) => {
      const before = batch.state(POLICY_SET_STORE, input.key);
      if (input.name === ACTIVATE_POLICY_SET)
        activate(input as CommandInput<ActivatePolicySet>, before, writes, batch.now);
      else revoke(input as CommandInput<RevokeAuthorizations>, before, writes, batch.now);
    });
  }
}

function activate(
  input: CommandInput<ActivatePolicySet>,
  before: PolicySetState | undefined,
  writes: WriteSet,
  now: Date,
): void {
  const { hash, files } = input.payload;
  if (before?.hash === hash) return answer(writes, before);
  const version = (before?.version ?? 0) + 1;
  const next = { version, notBeforeVersion: before?.notBeforeVersion ?? 0, hash, files: JSON.stringify(files) };
  write(input, { before, next, reason: 'the policy files changed' }, writes, now);
}

function revoke(
  input: CommandInput<RevokeAuthorizations>,
  before: PolicySetState | undefined,
  writes: WriteSet,
  now: Date,
): void {
  if (before === undefined) {
    return writes.answer({ ok: false, failure: toFailure(new NotFoundError('no policy set has been activated yet')) });
  }
  const version = before.version + 1;
  write(
    input,
    { before, next: { ...before, version, notBeforeVersion: version }, reason: input.payload.reason },
    writes,
    now,
  );
}

interface Change {
  readonly before: PolicySetState | undefined;
  readonly next: PolicySetState;
  readonly reason: string;
}

function write(input: CommandInput, { before, next, reason }: Change, writes: WriteSet, now: Date): void {
  const { key: name, tenant, by } = input;
  const { version, notBeforeVersion, hash, files } = next;
  const row = { name, version, hash, files, activated_at: now };
  writes.put(POLICY_SET, { ...row, not_before_version: notBeforeVersion }, before?.version ?? 0);
  writes.insertOnce(POLICY_SET_VERSION, { ...row, reason, activated_by: by?.subject ?? 'platform' });
  writes.emit({
    name: 'policy-set.activated',
    key: name,
    tenant,
    data: { set: name, version, notBeforeVersion, hash },
  });
  writes.setState(POLICY_SET_STORE, name, next);
  answer(writes, next);
}

function answer(writes: WriteSet, { version, notBeforeVersion }: PolicySetState): void {
  const value: ActivatedSet = { version, notBeforeVersion };
  writes.answer({ ok: true, value });
}
