export { type CliSurroundings, runCli, VERBS } from './cli.js';
export { createOutput, type Output, table, visible } from './output.js';
export { EXIT, type Verb } from './verb.js';
