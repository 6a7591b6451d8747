import { describe, expect, it } from 'vitest';
import { type ToolDefinition, definitionHashOf } from './definition.js';
import { acceptSeen, observeTool, type Tool, type ToolObservation, toolStatus, viewOf } from './tool.js';

const definition = (description: string): ToolDefinition => ({
  server: 'erp',
  name: 'post',
  title: null,
  description,
  inputSchema: { type: 'object' },
  outputSchema: null,
  annotations: null,
});
const hashed = (description: string) => ({
  hash: definitionHashOf(definition(description)),
  definition: definition(description),
});
const ONE = hashed('one');
const TWO = hashed('two');

const observation = (change: Partial<ToolObservation> = {}): ToolObservation => ({
  server: 'erp',
  originalName: 'post',
  traits: { write: true, repeatable: false, leavesSystem: false, key: 'honoured', timeoutMs: 1, unknownWaitMs: 0 },
  keyArgument: null,
  pin: 'accept-first',
  listed: ONE,
  obstacle: null,
  ...change,
});
const after = (...changes: Partial<ToolObservation>[]): Tool => {
  let tool: Tool | undefined;
  for (const change of changes) tool = observeTool(tool, 'erp.post', observation(change));
  if (tool === undefined) throw new Error('no observation');
  return tool;
};

describe('a tool', () => {
  it('is pinned when it is first seen', () => {
    expect(viewOf(after({}))).toMatchObject({
      name: 'erp.post',
      alias: 'erp_post',
      definitionHash: ONE.hash,
      status: 'available',
    });
  });

  it('is quarantined with the difference when its definition changes, and shows the pinned words only', () => {
    const tool = after({}, { listed: TWO });
    expect(toolStatus(tool)).toEqual({ status: 'quarantined', reason: 'its description changed since it was pinned' });
    expect(viewOf(tool)).toMatchObject({ definitionHash: ONE.hash, description: 'one' });
  });

  it('is available again when the definition is the pinned one again', () => {
    expect(toolStatus(after({}, { listed: TWO }, {})).status).toBe('available');
  });

  it('stays quarantined while its server is away', () => {
    expect(toolStatus(after({}, { listed: TWO }, { listed: null, obstacle: 'away' })).status).toBe('quarantined');
  });

  it('is available after somebody accepts exactly what is seen', () => {
    const tool = after({}, { listed: TWO });
    expect(acceptSeen(tool, ONE.hash)).toBeUndefined();
    const accepted = acceptSeen(tool, TWO.hash);
    expect(accepted && viewOf(accepted)).toMatchObject({ status: 'available', definitionHash: TWO.hash });
  });

  it('is unavailable with the reason while its server is away, and available after', () => {
    expect(toolStatus(after({}, { listed: null, obstacle: 'the server ended' }))).toEqual({
      status: 'unavailable',
      reason: 'the server ended',
    });
    expect(toolStatus(after({}, { listed: null, obstacle: 'away' }, {})).status).toBe('available');
  });

  it('is unavailable when it was never listed', () => {
    expect(toolStatus(after({ listed: null })).status).toBe('unavailable');
  });

  it('must have the hash that tools.yaml pins', () => {
    expect(toolStatus(after({ pin: ONE.hash })).status).toBe('available');
    expect(toolStatus(after({ pin: TWO.hash }))).toMatchObject({
      status: 'quarantined',
      reason: expect.stringContaining(ONE.hash),
    });
    expect(toolStatus(after({ pin: null })).status).toBe('quarantined');
    expect(toolStatus(after({ pin: ONE.hash }, { pin: TWO.hash, listed: TWO })).status).toBe('available');
    expect(viewOf(after({}, { pin: TWO.hash })).definitionHash).toBe('');
  });

  it('stays disabled whatever its server says', () => {
    const tool: Tool = { ...after({}), disabled: { by: 'olga', reason: 'incident 7' } };
    expect(toolStatus(observeTool(tool, 'erp.post', observation({ listed: TWO })))).toEqual({
      status: 'disabled',
      reason: 'incident 7',
    });
  });
});
