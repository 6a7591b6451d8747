import { describe, expect, it } from 'vitest';
import { READ_RESULT, READ_RESULT_OBSERVATION } from './read-result.js';
import { observeTool, type Tool } from './tool.js';
import { resolveToolset } from './toolset.js';

const tool = (name: string, obstacle: string | null = null): Tool =>
  observeTool(undefined, name, { ...READ_RESULT_OBSERVATION, obstacle });
const TOOLS = [tool('erp.post'), tool('erp.get', 'the server ended'), tool('crm.find'), tool(READ_RESULT)];

describe('resolveToolset', () => {
  it('takes what the globs name, by name, with what cannot be called now and why', () => {
    const { tools } = resolveToolset(TOOLS, ['erp.*', 'read_result', 'hr.*']);
    expect(tools.map(({ name, status, reason }) => [name, status, reason])).toEqual([
      ['erp.get', 'unavailable', 'the server ended'],
      ['erp.post', 'available', undefined],
      ['read_result', 'available', undefined],
    ]);
  });

  it('gives the same hash in any order, and another one for another list', () => {
    const { toolsetHash } = resolveToolset(TOOLS, ['erp.*']);
    expect(resolveToolset(TOOLS.toReversed(), ['*.post', 'erp.*']).toolsetHash).toBe(toolsetHash);
    expect(resolveToolset(TOOLS, ['erp.post']).toolsetHash).not.toBe(toolsetHash);
  });
});
