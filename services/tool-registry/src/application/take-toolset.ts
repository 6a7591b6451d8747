import type { EventData } from '@lineclear/contracts';
import type { EventInput } from '@lineclear/messaging';
import type { Catalogue } from '../adapters/postgres/catalogue-reader.js';
import { resolveToolset } from '../domain/toolset.js';
import { type PendingToolset, TOOLSET_TIMER } from './run-commands.js';
import type { RunWriter } from './run-writer.js';

/** After that a server that was never seen is one that is away. */
const FIRST_SIGHT_MS = 30_000;
const LOOK_AGAIN_MS = 100;

/** The toolsets of one catalogue by globs: runs of one agent share theirs. */
export class Toolsets {
  readonly #byGlobs = new Map<string, EventData<'toolset.resolved'>>();
  #list: Catalogue['list'] | undefined;

  resolve(catalogue: Catalogue, globs: readonly string[]): EventData<'toolset.resolved'> {
    if (this.#list !== catalogue.list) this.#byGlobs.clear();
    this.#list = catalogue.list;
    const key = JSON.stringify(globs);
    let toolset = this.#byGlobs.get(key);
    if (toolset === undefined) this.#byGlobs.set(key, (toolset = resolveToolset(catalogue.list, globs)));
    return toolset;
  }
}

export interface ToolsetContext {
  readonly catalogue: Catalogue;
  readonly toolsets: Toolsets;
  /** names of tools.yaml */
  readonly servers: readonly string[];
}

export function takeStart(run: RunWriter, { event }: EventInput<'run.started'>, context: ToolsetContext): void {
  if (run.run.toolsetHash !== null) return;
  const untilMs = run.now.getTime() + FIRST_SIGHT_MS;
  answerToolset(run, { globs: event.data.definition.tools, tenant: run.tenant, untilMs }, context);
}

/** Answers at once, but for the very first start of a server: its tools are waited for, else the run would have none. */
export function answerToolset(
  run: RunWriter,
  pending: PendingToolset,
  { catalogue, toolsets, servers }: ToolsetContext,
): void {
  if (run.run.toolsetHash !== null) return;
  const isComplete = servers.every((name) => catalogue.servers.has(name));
  if (!isComplete && run.now.getTime() < pending.untilMs) {
    run.mark({});
    const dueAt = new Date(run.now.getTime() + LOOK_AGAIN_MS);
    return run.writes.setTimer({ key: run.runId, name: TOOLSET_TIMER, dueAt, payload: pending });
  }
  emitToolset(run, toolsets.resolve(catalogue, pending.globs));
}

/** An operator dropped the start of the run: it gets no tools, so that it ends instead of waiting. */
export function answerDroppedStart(run: RunWriter): void {
  if (run.run.toolsetHash === null) emitToolset(run, resolveToolset([], []));
}

function emitToolset(run: RunWriter, toolset: EventData<'toolset.resolved'>): void {
  run.mark({ toolsetHash: toolset.toolsetHash });
  run.writes.emit({ name: 'toolset.resolved', key: run.runId, tenant: run.tenant, data: toolset });
}
