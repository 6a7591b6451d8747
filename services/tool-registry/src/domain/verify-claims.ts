import {
  authorizationClaimsSchema,
  authorizationIdOf,
  callDigest,
  callIdOf,
  contentHash,
  type EventData,
} from '@lineclear/contracts';
import type { Permit } from './effect.js';

/** What the event says, to be held against the claims; it is as trustworthy as the bus. */
export interface Claimed {
  /** key of the event */
  readonly runId: string;
  /** tenant of the event; of the run, when its start was seen */
  readonly tenants: readonly string[];
  readonly data: EventData<'tool-call.authorized'>;
  /** argument names that make the business key of the tool */
  readonly businessKey: readonly string[] | undefined;
}

export type ClaimsVerdict =
  | { readonly valid: true; readonly permit: Permit }
  | { readonly valid: false; readonly why: string };

/**
 * Holds the payload of a JWS, whose signature and type were verified, against the event that brought it: this call, this tenant, these arguments.
 * Time is not looked at here: expiry counts at the moment of the intent.
 */
export function verifyClaims(payload: unknown, { runId, tenants, data, businessKey }: Claimed): ClaimsVerdict {
  const parsed = authorizationClaimsSchema.safeParse(payload);
  if (!parsed.success)
    return invalid(`claim \`${parsed.error.issues[0]?.path.join('.') ?? ''}\` is missing or malformed`);
  const claims = parsed.data;
  const { callId, turn, index, round, stage, tool, definitionHash } = data;
  if (callId !== callIdOf(runId, turn, index)) return invalid('the call is not one of the run');
  if (claims.sub !== callId || claims.round !== round || claims.stage !== stage)
    return invalid('it was issued for another call, round or stage');
  if (claims.jti !== authorizationIdOf(callId, round, stage))
    return invalid('its id is not the one of this call, round and stage');
  if (tenants.some((tenant) => tenant !== claims.tenant)) return invalid('it was issued for another tenant');
  if (claims.definitionHash !== definitionHash) return invalid('it was issued for another definition of the tool');
  const { tenant } = claims;
  const digest = callDigest({ tenant, runId, turn, index, tool, definitionHash, arguments: data.arguments });
  if (claims.digest !== digest) return invalid('it was issued for other arguments');
  const key = businessKeyOf(data.arguments, businessKey);
  return {
    valid: true,
    permit: {
      tenant,
      callId,
      turn,
      index,
      round,
      stage,
      tool,
      definitionHash,
      digest,
      payloadHash: key === null ? '' : contentHash({ tool, arguments: data.arguments }),
      businessKey: key,
      jti: claims.jti,
      policyVersion: claims.policyVersion,
      expiresAtMs: claims.exp * 1_000,
      isGranted: claims.approvalId !== undefined,
    },
  };
}

const invalid = (why: string): ClaimsVerdict => ({ valid: false, why });

/** Hash over the named arguments in their order; null when the tool names none or the call lacks one of them. */
export function businessKeyOf(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[] | undefined,
): string | null {
  if (names === undefined || !names.every((name) => Object.hasOwn(args, name))) return null;
  return contentHash(names.map((name) => [name, args[name]]));
}
