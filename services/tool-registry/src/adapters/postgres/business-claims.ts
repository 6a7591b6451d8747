import type { ToolResult } from '@lineclear/contracts';
import type { ReadHandle, WriteSet } from '@lineclear/messaging';
import type { BusinessClaim } from '../../domain/authorize.js';
import { type Effect, isOpen } from '../../domain/effect.js';
import { BUSINESS_CLAIM } from './tables.js';

export interface ClaimKey {
  readonly tenant: string;
  readonly tool: string;
  readonly businessKey: string;
}

interface ClaimRow {
  readonly tenant: string;
  readonly tool: string;
  readonly business_key: string;
  readonly call_id: string;
  readonly payload_hash: string;
  readonly state: BusinessClaim['state'];
  readonly result: string | null;
}

export const claimKeyText = ({ tenant, tool, businessKey }: ClaimKey): string =>
  JSON.stringify([tenant, tool, businessKey]);

/** Who holds these business keys, by `claimKeyText`. One query. */
export async function loadClaims(
  read: ReadHandle,
  keys: readonly ClaimKey[],
): Promise<ReadonlyMap<string, BusinessClaim>> {
  if (keys.length === 0) return new Map();
  const rows = await read.query<ClaimRow>(
    `SELECT c.tenant, c.tool, c.business_key, c.call_id, c.payload_hash, c.state, c.result
     FROM json_to_recordset($1::json) AS k(tenant text, tool text, "businessKey" text)
     JOIN business_claim AS c ON c.tenant = k.tenant AND c.tool = k.tool AND c.business_key = k."businessKey"`,
    [JSON.stringify(keys)],
  );
  return new Map(
    rows.map(
      ({ tenant, tool, business_key: businessKey, call_id: callId, payload_hash: payloadHash, state, result }) => [
        claimKeyText({ tenant, tool, businessKey }),
        { callId, payloadHash, state, result: result === null ? null : (JSON.parse(result) as ToolResult) },
      ],
    ),
  );
}

/**
 * Follows a call that holds its business key: claimed with the intent, kept while its outcome counts, freed when it did not act. INVARIANT: the row is
 * unique per tenant over all runs, and only the run of its call changes it.
 */
export function writeClaim(
  writes: WriteSet,
  effect: Effect,
  {
    runId,
    result,
    isNew,
  }: { readonly runId: string; readonly result: ToolResult | undefined; readonly isNew: boolean },
): void {
  if (effect.businessKey === null || effect.attempt === 0) return;
  const key = { tenant: effect.tenant, tool: effect.tool, business_key: effect.businessKey };
  const state = claimState(effect);
  if (state === 'free') return writes.remove(BUSINESS_CLAIM, key);
  const row = {
    ...key,
    call_id: effect.callId,
    run_id: runId,
    payload_hash: effect.payloadHash,
    state,
    result: state === 'succeeded' ? JSON.stringify(result ?? { text: '(no output)' }) : null,
  };
  if (isNew) writes.insert(BUSINESS_CLAIM, row);
  else writes.put(BUSINESS_CLAIM, row);
}

function claimState(effect: Effect): BusinessClaim['state'] | 'free' {
  if (isOpen(effect)) return 'open';
  if (effect.state === 'unknown') return 'unknown';
  return effect.state === 'succeeded' || effect.state === 'happened' ? 'succeeded' : 'free';
}
