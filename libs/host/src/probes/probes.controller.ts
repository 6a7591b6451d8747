import { Controller, Get, Header, HttpCode, Inject, Res } from '@nestjs/common';
import { metricsText } from '@lineclear/telemetry';
import { z } from 'zod';
import { Describe } from '../docs/describe.js';
import { docsPage } from '../docs/docs-page.js';
import type { OpenApiDocument } from '../docs/openapi.js';
import { Public } from '../http/principal.js';

/** What a running service says of itself. */
export interface ServiceStatus {
  readonly service: string;
  readonly version: string;
  /** why it does not take work now; empty when it does */
  reasons(): Promise<readonly string[]>;
  openApi(): OpenApiDocument;
}

export const SERVICE_STATUS = Symbol('SERVICE_STATUS');

interface Reply {
  code(status: number): Reply;
}

@Controller()
@Public()
export class ProbesController {
  constructor(@Inject(SERVICE_STATUS) private readonly status: ServiceStatus) {}

  @Get('health')
  @Describe({
    summary: 'The process is alive.',
    answer: z.object({ status: z.literal('ok'), service: z.string(), version: z.string() }),
  })
  health() {
    return { status: 'ok', service: this.status.service, version: this.status.version };
  }

  @Get('ready')
  @Describe({
    summary: 'Takes work now (200), or every reason why not (503).',
    answer: z.object({ ready: z.boolean(), reasons: z.array(z.string()) }),
  })
  async ready(@Res({ passthrough: true }) reply: Reply) {
    const reasons = await this.status.reasons();
    if (reasons.length > 0) reply.code(503);
    return { ready: reasons.length === 0, reasons };
  }

  @Get('metrics')
  @HttpCode(200)
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @Describe({ summary: 'Metrics of the process as Prometheus text.' })
  metrics(): Promise<string> {
    return metricsText();
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Describe({ summary: 'What this service answers to, for people.' })
  docs(): string {
    return docsPage(this.status.openApi());
  }

  @Get('docs/openapi.json')
  @Describe({ summary: 'The same as OpenAPI 3.1.' })
  openApi(): OpenApiDocument {
    return this.status.openApi();
  }
}
