import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS, type Principal } from '@lineclear/contracts';
import { CurrentPrincipal, Describe, Roles, unwrap } from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { z } from 'zod';
import { loadStored } from '../../application/active-policies.js';
import { PLATFORM_TENANT } from '../../application/activate-at-start.js';
import { type CallCheck, checkCall, checkCallAgainst } from '../../application/check-call.js';
import {
  type ActivatedSet,
  REVOKE_AUTHORIZATIONS,
  type RevokeAuthorizations,
} from '../../application/policy-set-commands.js';
import { POLICY_SET_NAME } from '../../domain/policy-set-name.js';
import { Catalog } from '../postgres/catalog.js';

const checkBody = z.strictObject({
  call: z.string().min(1).max(200),
  roles: z.array(z.string()).default([]),
  arguments: z.record(z.string(), z.unknown()).default({}),
  approved: z.boolean().optional(),
  labels: z
    .strictObject({
      confidentiality: z.enum(CONFIDENTIALITY_LEVELS).optional(),
      integrity: z.enum(INTEGRITY_LEVELS).optional(),
    })
    .optional(),
  /** text of a policy file to try instead of the set in force */
  policies: z.string().max(200_000).optional(),
});

const checkAnswer = z.object({
  verdict: z.enum(['allow', 'ask', 'deny']),
  rules: z.array(z.string()),
  errors: z.array(z.string()),
  warnings: z.array(z.string()),
  reason: z.string(),
  policyVersion: z.int(),
  suggestion: z.string().optional(),
});

const revokeBody = z.strictObject({ reason: z.string().min(1).max(1_000) });
const revokeAnswer = z.object({ version: z.int(), notBeforeVersion: z.int() });

@Controller('v1/policies')
export class PoliciesController {
  constructor(
    private readonly catalog: Catalog,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
  ) {}

  @Post('check')
  @HttpCode(200)
  @Describe({
    summary: 'The verdict on a call, by the set in force or by a given policy; nothing runs.',
    answer: checkAnswer,
  })
  async check(@Body({ schema: checkBody }) body: z.infer<typeof checkBody>): Promise<CallCheck> {
    const { policies: text, ...call } = body;
    const tools = await this.catalog.tools();
    const checked = { ...call, traits: tools.find(({ name }) => name === call.call)?.traits };
    if (text !== undefined) return checkCallAgainst([{ file: 'policies', text }], checked, tools);
    const active = await this.catalog.activeSet();
    const set = loadStored(active?.files ?? '[]', active?.version ?? 0);
    try {
      return checkCall(set, checked, tools);
    } finally {
      set.dispose();
    }
  }

  @Post('revoke')
  @HttpCode(200)
  @Roles('operator')
  @Describe({
    summary: 'Refuses every authorization signed so far; calls on their way are decided anew.',
    answer: revokeAnswer,
  })
  async revoke(
    @Body({ schema: revokeBody }) payload: RevokeAuthorizations,
    @CurrentPrincipal() by: Principal,
  ): Promise<ActivatedSet> {
    const command = { name: REVOKE_AUTHORIZATIONS, key: POLICY_SET_NAME, tenant: PLATFORM_TENANT, payload, by };
    return unwrap<ActivatedSet>(await this.commands.send(command));
  }
}
