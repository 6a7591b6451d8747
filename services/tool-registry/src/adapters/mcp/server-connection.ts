import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { Secret } from '../../config/secret.js';
import type { ServerConfig } from '../../config/tools-file.js';
import type { ListedTool } from '../../domain/definition.js';
import { observeServer } from '../../domain/observe-server.js';
import type { ToolObservation } from '../../domain/tool.js';
import { GuardedProcess } from './guarded-process.js';
import { listTools } from './list-tools.js';
import { StdioTransport } from './stdio-transport.js';

/** Of the registry's own environment, what a program needs to run at all. Everything else must stand in tools.yaml. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'];
const PROBE_TIMEOUT_MS = 8_000;

export type Era = 'modern' | 'legacy';

export interface ConnectionOptions {
  readonly server: ServerConfig;
  /** folder of tools.yaml, where relative paths start */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** known from an earlier start, so that the probe is left out */
  readonly era: Era | undefined;
  /** gives the start up */
  readonly signal: AbortSignal;
}

/** What the server says now of a tool that can be called. */
export interface KnownTool {
  readonly hash: string;
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
}

/** Why a server cannot be used, in words for people; secrets are taken out. */
export class ServerUnusable extends Error {}

/** One life of a server process. */
export class ServerConnection {
  #tools: ReadonlyMap<string, KnownTool | undefined> = new Map();

  /** Resolves with the reason when the process or the connection ended. */
  readonly ended: Promise<string>;

  private constructor(
    readonly client: Client,
    private readonly child: GuardedProcess,
    private readonly server: ServerConfig,
    transport: StdioTransport,
  ) {
    this.ended = child.exited.then((code) =>
      transport.isGivenUp ? garbageReason(server, transport.garbage) : endReason(server, code, child.lastWords),
    );
  }

  /**
   * Starts the process and shakes hands in either era.
   * @throws ServerUnusable
   */
  static async open({ server, cwd, environment, era, signal }: ConnectionOptions): Promise<ServerConnection> {
    const child = new GuardedProcess({ command: commandOf(server), cwd, env: environmentOf(server, environment) });
    const transport = new StdioTransport(child);
    const client = new Client(
      { name: 'lineclear-tool-registry', version: '0.1.0' },
      {
        versionNegotiation: {
          mode: era === 'legacy' || server.era === 'legacy' ? 'legacy' : 'auto',
          probe: { timeoutMs: Math.min(PROBE_TIMEOUT_MS, server.startTimeoutMs) },
        },
        inputRequired: { autoFulfill: false },
      },
    );
    client.onerror = () => undefined;
    try {
      await client.connect(transport, {
        timeout: server.startTimeoutMs,
        signal: AbortSignal.any([signal, AbortSignal.timeout(server.startTimeoutMs)]),
      });
      if (server.era === 'modern' && client.getProtocolEra() !== 'modern')
        throw new Error('it speaks only an older revision');
      return new ServerConnection(client, child, server, transport);
    } catch (cause) {
      child.kill();
      const code = await child.exited;
      throw new ServerUnusable(startReason(server, { code, cause, child, garbage: transport.garbage }), { cause });
    }
  }

  get era(): Era {
    return this.client.getProtocolEra() === 'modern' ? 'modern' : 'legacy';
  }

  /** @throws ServerUnusable when it does not give its whole list */
  async list(): Promise<readonly ListedTool[]> {
    try {
      const tools = await listTools(this.client, AbortSignal.timeout(this.server.startTimeoutMs));
      this.#tools = new Map(observeServer(this.server, { tools }).map((each) => [each.originalName, knownTool(each)]));
      return tools;
    } catch (cause) {
      if (SdkError.isInstance(cause) && cause.code === SdkErrorCode.ConnectionClosed)
        throw new ServerUnusable(await this.ended, { cause });
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ServerUnusable(redacted(`server \`${this.server.name}\` cannot be used: ${why}`, this.server), {
        cause,
      });
    }
  }

  /** A tool of its latest list that can be called. */
  tool(name: string): KnownTool | undefined {
    return this.#tools.get(name);
  }

  /** Calls back whenever the server says that its tools changed. */
  async watch(onChange: () => void): Promise<void> {
    this.client.setNotificationHandler('notifications/tools/list_changed', onChange);
    if (this.era === 'legacy' || this.client.getServerCapabilities()?.tools?.listChanged !== true) return;
    await this.client.listen({ toolsListChanged: true }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.client.close().catch(() => undefined);
    await this.child.stop();
  }
}

function knownTool({ listed, obstacle }: ToolObservation): KnownTool | undefined {
  return listed === null || obstacle !== null
    ? undefined
    : { hash: listed.hash, outputSchema: listed.definition.outputSchema };
}

/** `node` is the Node that runs us, whatever PATH says. */
function commandOf({ command: [program, ...args] }: ServerConfig): readonly [string, ...string[]] {
  return [program === 'node' ? process.execPath : program, ...args];
}

function environmentOf(server: ServerConfig, environment: ConnectionOptions['environment']): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  for (const [name, value] of Object.entries(server.env)) env[name] = value instanceof Secret ? value.reveal() : value;
  return env;
}

interface FailedStart {
  readonly code: number | undefined;
  readonly cause: unknown;
  readonly child: GuardedProcess;
  readonly garbage: string | undefined;
}

function startReason(server: ServerConfig, { code, cause, child, garbage }: FailedStart): string {
  if (code !== undefined) return endReason(server, code, child.lastWords);
  const printed = garbage === undefined ? '' : `; it printed \`${garbage}\``;
  const words = child.lastWords === '' ? '' : `; it said: ${child.lastWords}`;
  const why = isTimeout(cause)
    ? `within ${server.startTimeoutMs} ms`
    : `(${cause instanceof Error ? cause.message : String(cause)})`;
  return redacted(`server \`${server.name}\` did not answer as an MCP server ${why}${printed}${words}`, server);
}

function garbageReason(server: ServerConfig, garbage: string | undefined): string {
  return redacted(`server \`${server.name}\` prints what is no MCP message, such as \`${garbage ?? ''}\``, server);
}

const isTimeout = (cause: unknown): boolean =>
  cause instanceof Error && /timed? ?out|abort/i.test(`${cause.name} ${cause.message}`);

function endReason(server: ServerConfig, code: number | undefined, words: string): string {
  const how =
    code === 127
      ? `could not be started: \`${server.command[0]}\` was not found`
      : `ended with code ${code ?? 'unknown'}`;
  const said = words === '' || code === 127 ? '' : `; it said: ${words}`;
  return redacted(`server \`${server.name}\` ${how}${said}`, server);
}

function redacted(text: string, server: ServerConfig): string {
  const secrets = Object.values(server.env).flatMap((value) => (value instanceof Secret ? [value.reveal()] : []));
  return secrets
    .reduce((clean, secret) => (secret === '' ? clean : clean.replaceAll(secret, '[secret]')), text)
    .slice(0, 1_000);
}
