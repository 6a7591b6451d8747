import { Body, Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { type Principal, TOOL_STATUSES, toolTraitsSchema } from '@lineclear/contracts';
import { NotFoundError } from '@lineclear/errors';
import { CurrentPrincipal, Describe, Roles, unwrap } from '@lineclear/host';
import { COMMAND_SENDER, type CommandSender } from '@lineclear/messaging';
import { z } from 'zod';
import {
  ACCEPT_TOOL,
  type AcceptTool,
  DISABLE_TOOL,
  ENABLE_TOOL,
  PLATFORM_TENANT,
  type ToolOrder,
} from '../../application/catalogue-commands.js';
import { changedParts } from '../../domain/definition.js';
import { listingOf, type ToolListing } from '../../domain/tool.js';
import { ToolReader } from '../postgres/tool-reader.js';

const order = z.strictObject({ reason: z.string().trim().min(1).max(1_000) });
const acceptance = order.extend({ definitionHash: z.string().regex(/^[0-9a-f]{64}$/) });

const listing = z.object({
  name: z.string(),
  server: z.string(),
  originalName: z.string(),
  alias: z.string(),
  definitionHash: z.string(),
  status: z.enum(TOOL_STATUSES),
  reason: z.string().nullable(),
});
const definition = z.object({ hash: z.string(), definition: z.unknown() }).nullable();
const detail = listing.extend({
  traits: toolTraitsSchema,
  pinned: definition,
  seen: definition,
  changed: z.array(z.string()),
  disabledBy: z.string().nullable(),
});

/** The catalogue. It belongs to the installation, not to a tenant. */
@Controller('v1/tools')
export class ToolsController {
  constructor(
    private readonly tools: ToolReader,
    @Inject(COMMAND_SENDER) private readonly commands: CommandSender,
  ) {}

  @Get()
  @Describe({
    summary: 'All tools by name, with what they can be called now.',
    answer: z.object({ items: z.array(listing) }),
  })
  async list(): Promise<{ items: ToolListing[] }> {
    return { items: (await this.tools.all()).map(listingOf) };
  }

  @Get(':name')
  @Describe({
    summary: 'One tool with its pinned definition and, when it is quarantined, the one seen now.',
    answer: detail,
  })
  async show(@Param('name') name: string): Promise<z.infer<typeof detail>> {
    const tool = await this.tools.byName(name);
    if (tool === undefined) throw unknownTool(name);
    const { traits, pinned, seen, disabled } = tool;
    const changed = pinned === null || seen === null ? [] : changedParts(pinned.definition, seen.definition);
    return { ...listingOf(tool), traits, pinned, seen, changed, disabledBy: disabled?.by ?? null };
  }

  @Post(':name/disable')
  @HttpCode(200)
  @Roles('operator')
  @Describe({
    summary: 'Refuses every call of the tool from now on, also authorized ones that are not dispatched yet.',
    answer: listing,
  })
  async disable(
    @Param('name') name: string,
    @Body({ schema: order }) body: z.infer<typeof order>,
    @CurrentPrincipal() by: Principal,
  ): Promise<ToolListing> {
    return await this.order(DISABLE_TOOL, { name, reason: body.reason }, by);
  }

  @Post(':name/enable')
  @HttpCode(200)
  @Roles('operator')
  @Describe({ summary: 'Ends `disable`. It accepts no changed definition.', answer: listing })
  async enable(
    @Param('name') name: string,
    @Body({ schema: order }) body: z.infer<typeof order>,
    @CurrentPrincipal() by: Principal,
  ): Promise<ToolListing> {
    return await this.order(ENABLE_TOOL, { name, reason: body.reason }, by);
  }

  @Post(':name/accept')
  @HttpCode(200)
  @Roles('operator')
  @Describe({
    summary: 'Pins the definition that a quarantined tool has now; `definitionHash` names the one that was looked at.',
    answer: listing,
  })
  async accept(
    @Param('name') name: string,
    @Body({ schema: acceptance }) body: z.infer<typeof acceptance>,
    @CurrentPrincipal() by: Principal,
  ): Promise<ToolListing> {
    return await this.order(ACCEPT_TOOL, { name, ...body }, by);
  }

  private async order(name: string, payload: ToolOrder | AcceptTool, by: Principal): Promise<ToolListing> {
    const tool = await this.tools.byName(payload.name);
    if (tool === undefined) throw unknownTool(payload.name);
    return unwrap<ToolListing>(
      await this.commands.send({ name, key: tool.server, tenant: PLATFORM_TENANT, payload, by }),
    );
  }
}

const unknownTool = (name: string): NotFoundError =>
  new NotFoundError(`there is no tool \`${name}\`; \`GET /v1/tools\` lists them`, {
    details: { where: 'path', seen: name },
  });
