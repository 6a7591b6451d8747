import type { CallView, LineclearClient, RunView } from '@lineclear/client';
import { NotFoundError } from '@lineclear/errors';
import { z } from 'zod';

const treeSchema = z.object({
  finishedAt: z.string().nullable(),
  turns: z.array(
    z.object({
      calls: z.array(
        z.object({
          callId: z.string(),
          tool: z.string().nullable(),
          status: z.string(),
          reason: z.string().nullable(),
          events: z.array(z.object({ id: z.string(), source: z.string() })),
        }),
      ),
    }),
  ),
});

const timelineSchema = z.object({
  items: z.array(z.object({ id: z.string(), source: z.string(), name: z.string(), data: z.unknown() })),
});

/** What events of a call add to its node in the tree. */
const callDataSchema = z.object({ arguments: z.unknown().optional(), rules: z.array(z.string()).optional() });

type CallNode = z.infer<typeof treeSchema>['turns'][number]['calls'][number];
type TimelineEntry = z.infer<typeof timelineSchema>['items'][number];

export interface RunCall extends CallView {
  /** why it ended so, where it was said */
  readonly reason: string | null;
}

export interface RunCalls {
  readonly calls: readonly RunCall[];
  /** false: the run has ended, and the trace store does not hold its end yet */
  readonly whole: boolean;
}

const VERDICTS: ReadonlyMap<string, string> = new Map([
  ['tool-call.authorized', 'authorized'],
  ['tool-call.referred', 'referred'],
  ['tool-call.denied', 'denied'],
]);

/**
 * Every call of a run, oldest first: those of all turns from the trace store, those of the present turn as the orchestrator has them. The trace store
 * follows with a delay; a run that it does not know yet has the present turn alone.
 */
export async function callsOfRun(client: LineclearClient, run: RunView): Promise<RunCalls> {
  const archived = await archivedCalls(client, run.runId);
  const calls = new Map(archived.calls.map((call) => [call.callId, call]));
  for (const call of run.calls) calls.set(call.callId, { ...call, reason: calls.get(call.callId)?.reason ?? null });
  return { calls: [...calls.values()], whole: run.finishedAt === null || archived.ended };
}

async function archivedCalls(
  client: LineclearClient,
  runId: string,
): Promise<{ readonly calls: readonly RunCall[]; readonly ended: boolean }> {
  try {
    const tree = treeSchema.parse(await client.tree(runId));
    const { items } = timelineSchema.parse(await client.timeline(runId));
    const entries = new Map(items.map((entry) => [keyOf(entry), entry]));
    const calls = tree.turns.flatMap((turn) => turn.calls.map((node) => callOf(node, entries)));
    return { calls, ended: tree.finishedAt !== null };
  } catch (error) {
    if (error instanceof NotFoundError) return { calls: [], ended: false };
    throw error;
  }
}

/** The last decision counts, and the arguments as they were last: a grant may have edited them. */
function callOf(
  { callId, tool, status, reason, events }: CallNode,
  entries: ReadonlyMap<string, TimelineEntry>,
): RunCall {
  let args: unknown = null;
  let verdict: string | null = null;
  let rules: readonly string[] = [];
  for (const event of events) {
    const entry = entries.get(keyOf(event));
    if (entry === undefined) continue;
    const data = callDataSchema.parse(entry.data);
    args = data.arguments ?? args;
    const decided = VERDICTS.get(entry.name);
    if (decided === undefined) continue;
    verdict = decided;
    rules = data.rules ?? [];
  }
  return { callId, tool: tool ?? '-', arguments: args, verdict, rules, status, reason };
}

const keyOf = ({ source, id }: { readonly source: string; readonly id: string }): string => `${source} ${id}`;
