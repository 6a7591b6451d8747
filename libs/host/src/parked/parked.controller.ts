import { Body, Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { Principal } from '@lineclear/contracts';
import { NotFoundError } from '@lineclear/errors';
import { COMMAND_SENDER, type CommandSender, DROP_HELD, REDRIVE_HELD } from '@lineclear/messaging';
import { z } from 'zod';
import { Describe } from '../docs/describe.js';
import { CurrentPrincipal, Roles } from '../http/principal.js';
import { unwrap } from '../unwrap.js';
import { HeldMessages, heldIdOf, type ParkedMessage, type ParkedView } from './held-messages.js';

const id = z.string().min(1).max(200);
const drop = z.strictObject({ reason: z.string().min(1).max(1_000) });

/** Messages that the service set aside, for operators. */
@Controller('v1/parked')
@Roles('operator')
export class ParkedController {
  constructor(
    @Inject(HeldMessages) private readonly held: HeldMessages,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
  ) {}

  @Get()
  @Describe({ summary: 'Messages set aside with their reason, oldest first.' })
  async list(@CurrentPrincipal() { tenant }: Principal): Promise<{ items: ParkedView[] }> {
    return { items: await this.held.list(tenant) };
  }

  @Get(':id')
  @Describe({ summary: 'One of them, with its content.' })
  show(
    @Param('id', { schema: id }) parkedId: string,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ParkedMessage> {
    return this.#find(parkedId, principal);
  }

  @Post(':id/redrive')
  @HttpCode(200)
  @Describe({ summary: 'Tries the message again, and then those that wait behind it.' })
  async redrive(@Param('id', { schema: id }) parkedId: string, @CurrentPrincipal() principal: Principal) {
    return this.#command(REDRIVE_HELD, parkedId, principal, {});
  }

  @Post(':id/drop')
  @HttpCode(200)
  @Describe({ summary: 'Gives the message up, with a reason that is recorded.' })
  async drop(
    @Param('id', { schema: id }) parkedId: string,
    @Body({ schema: drop }) body: z.infer<typeof drop>,
    @CurrentPrincipal() principal: Principal,
  ) {
    return this.#command(DROP_HELD, parkedId, principal, body);
  }

  async #find(parkedId: string, { tenant }: Principal): Promise<ParkedMessage> {
    const found = await this.held.find(tenant, parkedId);
    if (found === undefined) throw new NotFoundError(`no message \`${parkedId}\` is set aside here`);
    return found;
  }

  async #command(name: string, parkedId: string, principal: Principal, payload: object) {
    const { key } = await this.#find(parkedId, principal);
    const heldId = heldIdOf(parkedId);
    unwrap(
      await this.commands.send({ name, key, tenant: principal.tenant, payload: { heldId, ...payload }, by: principal }),
    );
    return { id: parkedId };
  }
}
