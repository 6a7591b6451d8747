import { definitionHashOf, type ToolDefinition } from './definition.js';
import type { ToolObservation } from './tool.js';

/** The server id of the registry's own tools; no configured server can have it, since its tools have no prefix. */
export const BUILT_IN = 'built-in';
export const READ_RESULT = 'read_result';
/** Most characters of one page. */
export const MAX_PAGE_CHARS = 8_000;

const DEFINITION: ToolDefinition = {
  server: BUILT_IN,
  name: READ_RESULT,
  title: null,
  description:
    'Reads a page of an earlier tool result of this run that was too large to show at once. `handle` is the id in that result, `offset` counts characters from 0.',
  inputSchema: {
    type: 'object',
    properties: {
      handle: { type: 'string', minLength: 1, maxLength: 100 },
      offset: { type: 'integer', minimum: 0, maximum: 2_000_000_000, default: 0 },
      limit: { type: 'integer', minimum: 1, maximum: MAX_PAGE_CHARS, default: MAX_PAGE_CHARS },
    },
    required: ['handle'],
    additionalProperties: false,
  },
  outputSchema: null,
  annotations: null,
};

/** The built-in as the catalogue observes it at every start. */
export const READ_RESULT_OBSERVATION: ToolObservation = {
  server: BUILT_IN,
  originalName: READ_RESULT,
  traits: { write: false, repeatable: true, leavesSystem: false, key: 'none', timeoutMs: 10_000, unknownWaitMs: 0 },
  keyArgument: null,
  pin: definitionHashOf(DEFINITION),
  listed: { hash: definitionHashOf(DEFINITION), definition: DEFINITION },
  obstacle: null,
};
