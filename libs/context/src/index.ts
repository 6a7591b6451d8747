export { AppendLog } from './append-log.js';
export { type Clearing, type ClearingSettings, clearTurns, planClearing } from './clearing.js';
export { estimateTokens, messageTokens, worstCaseTokens } from './tokens.js';
export { appendMessages, EMPTY_WINDOW, type Window } from './window.js';
