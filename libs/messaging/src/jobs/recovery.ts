import type { LaneMemory } from '../lane/memory.js';
import type { Shard } from '../lane/shard.js';
import type { JobRow } from './job-row.js';

/** Added to dispatch-by + time-out before an attempt counts as unable to act: the owner's clock may lag behind the database's. */
const QUIET_MARGIN_MS = 1_000;

/** What becomes of the job rows of shards that were just taken. Returns those that a live owner elsewhere runs: they are left alone. */
export function recoverJobs(shards: readonly Shard[], memory: LaneMemory, alive: ReadonlySet<string>): JobRow[] {
  const elsewhere: JobRow[] = [];
  for (const shard of shards)
    for (const row of shard.jobs.values()) {
      if (row.state === 'queued') memory.jobs.enqueue(row);
      else if (row.owner === memory.owner) resume(shard, row, memory);
      else if (row.owner !== null && alive.has(row.owner)) elsewhere.push(row);
      else lose(shard, row, memory);
    }
  return elsewhere;
}

/** Our own row: running, done, or, where the commit's answer was lost, never started. */
function resume(shard: Shard, row: JobRow, memory: LaneMemory): void {
  const found = memory.jobs.find(row.id, row.attempt);
  if (found === undefined) memory.jobs.start(row, performance.now() + (row.dispatchBy ?? 0) - memory.clock.now());
  else if (found.outcome !== undefined) memory.addOutcome(shard, row, found.outcome);
}

/** Its owner is dead: told at once, or when no attempt can act any more. */
export function lose(shard: Shard, row: JobRow, memory: LaneMemory): void {
  if (row.lost === 'at-once') return memory.addOutcome(shard, row, { status: 'lost' });
  memory.lostDue.push((row.dispatchBy ?? 0) + row.timeoutMs + QUIET_MARGIN_MS, { shard, row });
}
