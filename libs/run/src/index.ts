export { type ArgumentsCheck, compileArguments, type Problem } from './arguments.js';
export { decide } from './decide.js';
export type { CommandAnswer, Decision, PlanItem, Remark } from './decision.js';
export { evolve } from './evolve.js';
export type { Fact, RunEvent, RunEventName, RunNote } from './fact.js';
export {
  type AcceptedTask,
  type ModelOutcome,
  RUN_COMMANDS,
  RUN_TIMERS,
  type RunCommand,
  type RunInput,
  type RunInputEventName,
  type RunTimer,
  type TaskRefusal,
} from './input.js';
export { type ArchivedEvent, type Difference, replay, type ReplayVerdict } from './replay.js';
export { fromSnapshot, toSnapshot } from './snapshot.js';
export { isTerminal, type CallPhase, type CallState, type RunState, type RunStatus, statusOf } from './state.js';
export { type ModelRequest, modelRequestOf, type RunView, runViewOf } from './view.js';
