/** Plain counters that telemetry reads; they only grow, but those that say `now`. Times in milliseconds. */
export interface LaneCounters {
  inputs: number;
  commits: number;
  /** of those, the ones that another lane's statement made along with its own */
  commitsShared: number;
  events: number;
  fenced: number;
  guardFailures: number;
  bisections: number;
  failures: number;
  held: number;
  parked: number;
  dropped: number;
  pauses: number;
  reconnects: number;
  decideMs: number;
  databaseMs: number;
  jobsStarted: number;
  jobsRunningNow: number;
  jobsQueuedNow: number;
  heldKeysNow: number;
  queuedInputsNow: number;
  queuedBytesNow: number;
  pausedNow: boolean;
}

export function newCounters(): LaneCounters {
  return {
    inputs: 0,
    commits: 0,
    commitsShared: 0,
    events: 0,
    fenced: 0,
    guardFailures: 0,
    bisections: 0,
    failures: 0,
    held: 0,
    parked: 0,
    dropped: 0,
    pauses: 0,
    reconnects: 0,
    decideMs: 0,
    databaseMs: 0,
    jobsStarted: 0,
    jobsRunningNow: 0,
    jobsQueuedNow: 0,
    heldKeysNow: 0,
    queuedInputsNow: 0,
    queuedBytesNow: 0,
    pausedNow: false,
  };
}
