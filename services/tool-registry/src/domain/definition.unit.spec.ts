import { describe, expect, it } from 'vitest';
import { changedParts, definitionFault, definitionHashOf, definitionOf, type ListedTool } from './definition.js';

const TOOL: ListedTool = {
  name: 'post',
  description: 'Posts.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'string' }, key: { type: 'string' } },
    required: ['a', 'key'],
  },
};
const hash = (tool: ListedTool, keyArgument?: string) => definitionHashOf(definitionOf('erp', tool, keyArgument));

describe('definition hash', () => {
  it('does not depend on the order of keys', () => {
    const { name, description, inputSchema } = TOOL;
    expect(hash({ inputSchema, description, name })).toBe(hash(TOOL));
  });

  it.each<[string, Partial<ListedTool>]>([
    ['description', { description: 'Posts!' }],
    ['title', { title: 'Post' }],
    ['inputSchema', { inputSchema: { type: 'object' } }],
    ['outputSchema', { outputSchema: { type: 'object' } }],
    ['annotations', { annotations: { readOnlyHint: true } }],
  ])('changes with %s, which is named', (part, change) => {
    expect(hash({ ...TOOL, ...change })).not.toBe(hash(TOOL));
    expect(
      changedParts(definitionOf('erp', TOOL, undefined), definitionOf('erp', { ...TOOL, ...change }, undefined)),
    ).toEqual([part]);
  });

  it('changes with the server and the name', () => {
    expect(definitionHashOf(definitionOf('erp2', TOOL, undefined))).not.toBe(hash(TOOL));
    expect(hash({ ...TOOL, name: 'Post' })).not.toBe(hash(TOOL));
  });

  it('hides the declared key argument', () => {
    expect(definitionOf('erp', TOOL, 'key').inputSchema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    });
  });
});

describe('definitionFault', () => {
  it('accepts a plain tool', () => {
    expect(definitionFault(TOOL)).toBeUndefined();
  });

  it('refuses what nobody can read or store', () => {
    let deep: Record<string, unknown> = {};
    for (let n = 0; n < 20_000; n += 1) deep = { deep };
    expect(definitionFault({ ...TOOL, inputSchema: deep })).toMatch(/nested deeper/);
    expect(definitionFault({ ...TOOL, description: 'x'.repeat(70_000) })).toMatch(/larger than 65536 bytes/);
    expect(definitionFault({ ...TOOL, name: '' })).toMatch(/0 characters/);
    expect(definitionFault({ ...TOOL, name: 'a\ud800' })).toMatch(/invalid characters/);
    expect(definitionFault({ ...TOOL, name: 'a\u0000' })).toMatch(/invalid characters/);
    expect(definitionFault({ ...TOOL, description: 'safe\u202Etext' })).toMatch(/U\+202E/);
    expect(definitionFault({ ...TOOL, description: 'tag \u{E0041}' })).toMatch(/U\+E0041/);
  });
});
