import type { AgentDefinition, EventName } from '@lineclear/contracts';

/** An event as the archive holds it. */
export interface ArchivedEvent {
  readonly id: string;
  /** service that sent it, as in the envelope */
  readonly source: string;
  readonly name: EventName;
  readonly time: string;
  readonly data: unknown;
}

export interface Difference {
  /** position among the run's own events, from 0 */
  readonly index: number;
  readonly event: string;
  /** JSON pointer into the data, '' = the event as a whole */
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export interface ReplayVerdict {
  readonly identical: boolean;
  /** own events compared */
  readonly events: number;
  readonly firstDifference: Difference | null;
}

/**
 * Decides the whole run again from its recorded inputs and compares every event. `events`: all archived events of the run (subject = run id),
 * the run's own in their order, others anywhere. No external call is made. With `definition` the run is decided as that agent would today.
 */
export function replay(
  _runId: string,
  _events: readonly ArchivedEvent[],
  _definition?: AgentDefinition,
): ReplayVerdict {
  throw new Error('being written');
}
