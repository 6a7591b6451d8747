import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  decodeHeaders,
  type Envelope,
  type EventName,
  eventNameOf,
  type Principal,
  runIdOf,
  TERMINAL_STATES,
} from '@lineclear/contracts';
import { CLOSING, DATA_SOURCE, LOGGER } from '@lineclear/host';
import type { BusRecord, CommandResult, Log, NewEvent } from '@lineclear/messaging';
import { startTestService, type TestService, TestWorld } from '@lineclear/messaging/testing';
import { eventually, testDatabase } from '@lineclear/test-kit';
import { loadRuns } from '../adapters/postgres/run-store.js';
import { CANCEL, SUBMIT_TASK } from '../application/names.js';
import type { StoredRun } from '../application/stored-run.js';
import { readSubmission } from '../domain/submission.js';
import { orchestrator } from '../orchestrator.js';
import type { Peer, PeerEvent } from './peers.testsuite.js';

export const INBOX: Principal = { tenant: 'acme', subject: 'inbox', roles: ['clerk'], scopes: [] };
export const SOURCE = '/erp/inbox';

export const runOf = (taskId: string, tenant = INBOX.tenant): string => runIdOf(tenant, SOURCE, taskId);

const BUDGET = {
  steps: 5000,
  tokens: 100_000_000,
  costMicros: 100_000_000,
  toolCalls: 5000,
  activeMs: 3_600_000,
  wallMs: 86_400_000,
};

/** Text of an agent's file; budgets are ample unless given. */
export const agentFile = (name: string, budget: Partial<typeof BUDGET> = {}, more = ''): string =>
  `agent: ${name}
version: 1
prompt: Do it.
model: scripted/m
tools: ["erp.*"]
maxOutputTokens: 100
budget: ${JSON.stringify({ ...BUDGET, ...budget })}
principal: {roles: [clerk]}
${more}`;

/** Calls erp.get in as many turns as the task says, then answers. A token costs one micro-unit. */
const MODEL = `model: scripted/m
price: {input: 1000000, cacheRead: 1000000, cacheWrite: 1000000, output: 1000000}
script:
  - {when: {task.hang: true}, say: too late, delayMs: 600000}
  - {when: {task.hang: once, attempt: 1}, say: too late, delayMs: 600000}
  - {when: {task.fail: true}, fail: {code: unavailable, message: the provider is away}}
  - {when: {task.malformed: true, step: 1}, malformed: cut in the middle}
  - when: {task.parallel: true, turn: 1}
    call: [{tool: erp.get, arguments: {n: 1}}, {tool: erp.get, arguments: {n: 2}}, {tool: erp.post, arguments: {n: 3}}]
    usage: {uncached: 10, output: 5}
  - when: {task.endless: true}
    call: [{tool: erp.get, arguments: {n: "{{= turn}}"}}]
    usage: {uncached: 10, output: 5}
  - when: {task.calls: {min: 1}, turn: 1}
    call: [{tool: erp.get, arguments: {n: "{{= turn}}"}}]
    usage: {uncached: 10, output: 5}
  - {say: "done after {{count.erp.get}}", usage: {uncached: 10, output: 5}}
`;

/** A project with the agent `clerk`, whose budgets are ample, and these. Remove it afterwards. */
export function projectFolder(agents: readonly string[] = []): string {
  const project = mkdtempSync(join(tmpdir(), 'orchestrator-'));
  for (const folder of ['agents', 'models']) mkdirSync(join(project, folder));
  for (const [n, text] of [agentFile('clerk'), ...agents].entries())
    writeFileSync(join(project, 'agents', `${n}.yaml`), text);
  writeFileSync(join(project, 'models', 'm.yaml'), MODEL);
  return project;
}

export interface TestOptions {
  /** plays the other services for every task that has no peer of its own */
  readonly peer?: Peer;
  /** beside `clerk`, whose budgets are ample */
  readonly agents?: readonly string[];
}

/** The orchestrator on its real lane, bus and database; the services around it are played by the test. */
export class TestOrchestrator {
  /** what it sent on `runs`, each event once */
  readonly seen: { readonly name: EventName; readonly event: Envelope }[] = [];
  /** warnings and errors of its lane */
  readonly logged: { readonly message: string; readonly fields: object }[] = [];
  private readonly ids = new Set<string>();
  private readonly peers = new Map<string, Peer>();
  private running: TestService | undefined;
  private answering: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly options: TestOptions,
    private readonly project: string,
    readonly world: TestWorld,
  ) {}

  static async start(options: TestOptions = {}): Promise<TestOrchestrator> {
    const database = await (await testDatabase()).createDatabase();
    const world = await TestWorld.open({ database, services: ['orchestrator'] });
    const project = projectFolder(options.agents);
    const test = new TestOrchestrator(options, project, world);
    await test.boot();
    return test;
  }

  get service(): TestService {
    if (!this.running) throw new Error('the orchestrator is not running');
    return this.running;
  }

  /** Ends the process as kill -9 would and starts another one over the same database. */
  async restart(): Promise<void> {
    await this.service.lane.kill();
    this.running = undefined;
    await this.world.crash();
    await this.boot();
  }

  async stop(): Promise<void> {
    await this.answering;
    await this.running?.lane.kill();
    await this.world.close();
    rmSync(this.project, { recursive: true });
  }

  /** Submits a task whose peer is `options.peer`. */
  submit(
    taskId: string,
    input: Record<string, unknown> = {},
    options: { peer?: Peer; agent?: string; by?: Principal } = {},
  ): Promise<CommandResult> {
    const { peer, agent = 'clerk', by = INBOX } = options;
    if (peer) this.peers.set(runOf(taskId, by.tenant), peer);
    return this.submitText(taskId, JSON.stringify({ agent, input }), by);
  }

  submitText(taskId: string, body: string, by: Principal = INBOX): Promise<CommandResult> {
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': taskId,
      'ce-source': SOURCE,
      'ce-type': 'lineclear.task.submit.v1',
    };
    const read = readSubmission(headers, Buffer.from(body), { binding: 'http' });
    if ('unnamed' in read) throw new Error('the task has no name');
    const key = runOf(taskId, by.tenant);
    return this.service.commands.send({ name: SUBMIT_TASK, key, tenant: by.tenant, payload: read.submission, by });
  }

  cancel(taskId: string, by: Principal = INBOX): Promise<CommandResult> {
    const key = runOf(taskId);
    return this.service.commands.send({ name: CANCEL, key, tenant: by.tenant, payload: { reason: 'enough' }, by });
  }

  /** Publishes events of other services about a run, in this order. */
  async publish(taskId: string, ...events: readonly PeerEvent[]): Promise<void> {
    for (const { name, data, id } of events)
      await this.world.publish(
        { name, key: runOf(taskId), tenant: 'acme', data } as NewEvent,
        id === undefined ? {} : { id },
      );
  }

  eventsOf(taskId: string): string[] {
    return this.seen.filter(({ event }) => event.subject === runOf(taskId)).map(({ name }) => name);
  }

  /** Data of the n-th event of that name about a run; waits for it. */
  event<T>(taskId: string, name: EventName, n = 1): Promise<T> {
    return eventually(() => {
      const all = this.seen.filter(({ event, name: other }) => event.subject === runOf(taskId) && other === name);
      const found = all[n - 1];
      if (!found) throw new Error(`no ${n}. ${name}; there are ${this.eventsOf(taskId).join(', ')}`);
      return found.event.data as T & object;
    });
  }

  rows<T extends object>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return this.world.query<T>(text, values);
  }

  /** The run as a cold replica would load it. */
  async stored(taskId: string): Promise<StoredRun> {
    const data = this.service.get<{ query(text: string, values: unknown[]): Promise<never[]> }>(DATA_SOURCE);
    const runs = await loadRuns([runOf(taskId)], { query: (text, values = []) => data.query(text, [...values]) });
    const run = runs.get(runOf(taskId));
    if (!run) throw new Error(`task ${taskId} has no run`);
    return run;
  }

  /** Waits until the run's summary says so; at its end also for `run.finished`. */
  async until(taskId: string, state: string, timeoutMs = 20_000): Promise<{ reason: string | null; turn: number }> {
    const row = await eventually(() => this.summaryIn(taskId, state), { timeoutMs });
    if (TERMINAL_STATES.some((terminal) => terminal === state)) await this.event(taskId, 'run.finished');
    return row;
  }

  private async summaryIn(taskId: string, state: string): Promise<{ reason: string | null; turn: number }> {
    const [row] = await this.rows<{ state: string; reason: string | null; turn: number }>(
      'SELECT state, reason, turn FROM orchestrator.run WHERE run_id = $1',
      [runOf(taskId)],
    );
    if (row?.state === state) return row;
    throw new Error(`the run is ${row?.state ?? 'not there'} (${row?.reason ?? ''}); ${JSON.stringify(this.logged)}`);
  }

  private async boot(): Promise<void> {
    await this.watch();
    const warn: Log['warn'] = (fields, message) => void this.logged.push({ message, fields });
    this.running = await startTestService(this.world, orchestrator, {
      environment: { LINECLEAR_PROJECT: this.project },
      log: { info: () => undefined, warn, error: warn },
      providers: ({ dataSource }) => [
        { provide: LOGGER, useValue: { info: () => undefined, warn, error: warn } },
        { provide: DATA_SOURCE, useValue: dataSource },
        { provide: CLOSING, useValue: new AbortController().signal },
      ],
    });
  }

  /** Joins the bus as a reader of `runs` and lets the peer answer. */
  private async watch(): Promise<void> {
    await this.world.bus.join({
      service: 'trace-store',
      topics: ['runs'],
      sink: {
        assigned: async (shards) => shards.map((partition) => ({ topic: 'runs', partition, next: 0n })),
        revoked: async () => undefined,
        deliver: (records) => {
          for (const record of records) this.take(record);
          return 0;
        },
        failed: () => undefined,
        published: () => [],
        publish: async () => undefined,
      },
    });
  }

  private take(record: BusRecord): void {
    const attributes = decodeHeaders(record.headers);
    if (this.ids.has(attributes.id)) return;
    this.ids.add(attributes.id);
    const event: Envelope = { ...attributes, data: JSON.parse(record.value ?? 'null') as unknown };
    const name = eventNameOf(event.type) as EventName;
    this.seen.push({ name, event });
    const peer = this.peers.get(event.subject) ?? this.options.peer;
    for (const { id, ...answer } of peer?.(event, name) ?? []) {
      const published = { ...answer, key: event.subject, tenant: event.tenant } as NewEvent;
      this.answering = this.answering.then(() => this.world.publish(published, id === undefined ? {} : { id }));
    }
  }
}
