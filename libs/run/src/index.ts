export { type ArgumentsCheck, compileArguments } from './arguments/compile.js';
export { findLossyNumber } from './arguments/lossy-number.js';
export type { Problem } from './arguments/problem.js';
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
export type { Difference } from './difference.js';
export { type ArchivedEvent, replay, type ReplayVerdict } from './replay.js';
export { fromSnapshot, toSnapshot } from './snapshot.js';
export { isTerminal, type CallPhase, type CallState, type RunState, type RunStatus, statusOf } from './state.js';
export { type CallView, type ModelRequest, modelRequestOf, type RunView, runViewOf } from './view.js';
