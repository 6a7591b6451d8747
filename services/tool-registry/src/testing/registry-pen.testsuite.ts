import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  AUTHORIZATION_AUDIENCE,
  AUTHORIZATION_ISSUER,
  AUTHORIZATION_TYPE,
  type AuthorizationClaims,
  authorizationIdOf,
  callDigest,
  callIdOf,
  type EventData,
  idempotencyKeyOf,
  runIdOf,
  type Stage,
} from '@lineclear/contracts';
import type { SeenEvent, TestWorld } from '@lineclear/messaging/testing';
import { eventually } from '@lineclear/test-kit';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';

const ODD = fileURLToPath(new URL('./odd-server.mjs', import.meta.url));
const GLOBS = ['odd.*', 'read_result'];

export type Arguments = Readonly<Record<string, unknown>>;
type Authorized = EventData<'tool-call.authorized'>;
export type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

/** What a test changes of an authorization: the event that is sent, or the claims that are signed. */
export interface Change {
  readonly turn?: number;
  readonly index?: number;
  readonly round?: number;
  readonly stage?: Stage;
  readonly tenant?: string;
  readonly event?: Partial<Authorized>;
  readonly claims?: Partial<AuthorizationClaims>;
  readonly id?: string;
  /** signs instead of the policy engine */
  readonly keys?: Keys;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** A project folder with one odd server, and the key that the policy engine would sign with. */
export async function oddProject(
  traits: object,
  env: Readonly<Record<string, string>> = {},
  pin: unknown = 'accept-first',
): Promise<{ readonly folder: string; readonly keys: Keys }> {
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  const keys = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'EdDSA' };
  writeFileSync(join(folder, 'jwks.json'), JSON.stringify({ keys: [jwk] }));
  const server = {
    command: ['node', ODD],
    env: { EFFECTS: join(folder, 'effects.jsonl'), ...env },
    pin,
    tools: { act: traits },
  };
  writeFileSync(join(folder, 'tools.yaml'), JSON.stringify({ servers: { odd: server } }));
  return { folder, keys };
}

export function environmentOf(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, LINECLEAR_PROJECT: folder, POLICY_JWKS_FILE: join(folder, 'jwks.json') };
}

/** Writes what other services would, and reads what the registry and the tool did. */
export class RegistryPen {
  private runs = 0;

  constructor(
    readonly world: TestWorld,
    readonly folder: string,
    private readonly keys: Keys,
  ) {}

  newRun(): string {
    this.runs += 1;
    return runIdOf('acme', 'test', String(this.runs));
  }

  async startRun(runId: string, tenant = 'acme', globs: readonly string[] = GLOBS): Promise<SeenEvent> {
    await this.world.publish({ name: 'run.started', key: runId, tenant, data: started(tenant, globs) });
    return await this.world.waitFor(
      'tool-registry',
      ({ name, subject }) => name === 'toolset.resolved' && subject === runId,
      30_000,
    );
  }

  async definitionHash(tool = 'odd.act'): Promise<string> {
    return await eventually(
      async () => {
        const [row] = await this.world.query<{ tool: string }>('SELECT tool FROM tool_registry.tool WHERE name = $1', [
          tool,
        ]);
        const pinned = row === undefined ? null : (JSON.parse(row.tool) as { pinned: { hash: string } | null }).pinned;
        return pinned?.hash ?? false;
      },
      { timeoutMs: 30_000 },
    );
  }

  /** Signs and publishes an authorization; gives its call id. */
  async authorize(runId: string, args: Arguments, change: Change = {}): Promise<string> {
    const { turn = 1, index = 0, round = 1, stage = 'first', tenant = 'acme' } = change;
    const callId = callIdOf(runId, turn, index);
    const tool = change.event?.tool ?? 'odd.act';
    const definitionHash = await this.definitionHash(tool);
    const now = Math.floor(Date.now() / 1_000);
    const claims: AuthorizationClaims = {
      iss: AUTHORIZATION_ISSUER,
      aud: AUTHORIZATION_AUDIENCE,
      jti: authorizationIdOf(callId, round, stage),
      sub: callId,
      tenant,
      round,
      stage,
      digest: callDigest({ tenant, runId, turn, index, tool, definitionHash, arguments: args }),
      definitionHash,
      policyVersion: 1,
      iat: now,
      exp: now + 60,
      ...change.claims,
    };
    const data: Authorized = {
      callId,
      turn,
      index,
      round,
      stage,
      decisionId: 'dec_1',
      jws: await this.sign(claims, change),
      claims,
      tool,
      arguments: args,
      definitionHash,
      rules: ['test'],
      edited: false,
      ...change.event,
    };
    await this.world.publish(
      { name: 'tool-call.authorized', key: runId, tenant, data },
      change.id === undefined ? {} : { id: change.id },
    );
    return callId;
  }

  private async sign(claims: object, { keys = this.keys, header = {} }: Change): Promise<string> {
    const protectedHeader = { alg: 'EdDSA', typ: AUTHORIZATION_TYPE, kid: 'k1', ...header };
    return await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader(protectedHeader)
      .sign(keys.privateKey);
  }

  async stop(runId: string, n = 1): Promise<void> {
    const data = { inputs: [], n, target: 'cancelled' as const, reason: 'test', by: 'test' };
    await this.world.publish({ name: 'run.stop-started', key: runId, tenant: 'acme', data });
  }

  async completed(callId: string, round = 1): Promise<EventData<'tool-call.completed'>> {
    const isIt = ({ name, data }: SeenEvent) => {
      const { callId: id, round: seen } = data as EventData<'tool-call.completed'>;
      return name === 'tool-call.completed' && id === callId && seen === round;
    };
    const event = await this.world.waitFor('tool-registry', isIt, 60_000);
    return event.data as EventData<'tool-call.completed'>;
  }

  async fenced(runId: string, n: number): Promise<EventData<'run.fenced'>> {
    const isIt = ({ name, subject, data }: SeenEvent) =>
      name === 'run.fenced' && subject === runId && (data as EventData<'run.fenced'>).n === n;
    return (await this.world.waitFor('tool-registry', isIt, 60_000)).data as EventData<'run.fenced'>;
  }

  /** Hash of the definition that the quarantined `odd.act` has now. */
  async seenHash(): Promise<string> {
    const [row] = await this.world.query<{ tool: string }>(
      "SELECT tool FROM tool_registry.tool WHERE name = 'odd.act'",
    );
    const { seen } = JSON.parse(row?.tool ?? '{}') as { seen?: { hash: string } | null };
    return seen?.hash ?? '';
  }

  async eventsOf(key: string): Promise<SeenEvent[]> {
    return (await this.world.events('tool-registry')).filter(({ subject }) => subject === key);
  }

  /** What the tool did, in its own record. */
  effects(): readonly { readonly id: string; readonly key: string; readonly pid: number }[] {
    try {
      const lines = readFileSync(join(this.folder, 'effects.jsonl'), 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line) as { id: string; key: string; pid: number });
    } catch {
      return [];
    }
  }

  async state(callId: string): Promise<string | undefined> {
    const [row] = await this.world.query<{ state: string }>(
      'SELECT state FROM tool_registry.effect WHERE call_id = $1',
      [callId],
    );
    return row?.state;
  }

  async refusals(): Promise<readonly { reason: string; why: string }[]> {
    return await this.world.query('SELECT reason, why FROM tool_registry.refused_authorization ORDER BY refused_at');
  }

  /** Moves the moment until which attempts of a call could act into the past, so that a test need not wait for it. */
  async makeQuiet(callId: string): Promise<void> {
    const past = "now() - interval '1 minute'";
    await this.world.query(`UPDATE tool_registry.effect SET quiet_at = ${past} WHERE call_id = $1`, [callId]);
    await this.world.query(`UPDATE tool_registry.job SET dispatch_by = ${past} WHERE id = $1`, [
      idempotencyKeyOf(callId),
    ]);
  }
}

function started(tenant: string, globs: readonly string[]): EventData<'run.started'> {
  const budgets = { steps: 9, tokens: 9, costMicros: 9, toolCalls: 9, activeMs: 9, wallMs: 9 };
  return {
    inputs: [],
    taskId: 't',
    taskSource: 'test',
    payloadHash: 'x',
    definition: {
      agent: 'clerk',
      version: 1,
      prompt: 'x',
      model: 'scripted/x',
      tools: [...globs],
      budget: budgets,
      context: { clearAtTokens: 1_000, keepResults: 3 },
      memory: { recall: 0 },
      maxOutputTokens: 100,
      principal: { roles: [] },
    },
    principal: { tenant, subject: 'inbox', roles: [], scopes: [] },
    price: null,
    recall: { k: 0, query: '' },
    budgets,
    input: {},
    label: { confidentiality: 'internal', integrity: 'trusted' },
  };
}
