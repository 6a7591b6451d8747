import { describe, expect, it } from 'vitest';
import { parseToolsFile } from '../config/tools-file.js';
import type { ListedTool } from './definition.js';
import { observeServer, type ServerSight } from './observe-server.js';

const [SERVER] = parseToolsFile(
  'servers: {erp: {command: [x], tools: {post: {key: honoured, keyArgument: key}, gone: {write: false}}}}',
  'tools.yaml',
  {},
);

function observe(sight: ServerSight, pin: 'accept-first' | Record<string, string> = 'accept-first') {
  if (SERVER === undefined) throw new Error('no server');
  return Object.fromEntries(observeServer({ ...SERVER, pin }, sight).map((each) => [each.originalName, each]));
}
const tool = (name: string, inputSchema: Record<string, unknown> = { type: 'object' }): ListedTool => ({
  name,
  inputSchema,
});

describe('observeServer', () => {
  it('takes traits from tools.yaml only, and the worst for what it does not name', () => {
    const { post, other } = observe({
      tools: [tool('post'), { ...tool('other'), annotations: { readOnlyHint: true, destructiveHint: false } }],
    });
    expect(post).toMatchObject({ traits: { write: true, key: 'honoured', leavesSystem: false }, obstacle: null });
    expect(other).toMatchObject({ traits: { write: true, key: 'none', leavesSystem: true }, obstacle: null });
  });

  it('keeps what tools.yaml names and the server does not list', () => {
    expect(observe({ tools: [tool('post')] })['gone']).toMatchObject({
      listed: null,
      obstacle: 'server `erp` does not list it',
    });
  });

  it('gives the reason for every tool when there is no list', () => {
    expect(Object.values(observe({ obstacle: 'it ended' })).map(({ obstacle }) => obstacle)).toEqual([
      'it ended',
      'it ended',
    ]);
  });

  it('takes neither of two tools of one name', () => {
    expect(observe({ tools: [tool('post'), tool('post')] })['post']).toMatchObject({
      listed: null,
      obstacle: expect.stringContaining('two tools'),
    });
  });

  it('B05: local references work, others make the tool unavailable with the reason', () => {
    const limit = { type: 'object', properties: { limit: { type: 'integer' } } };
    const seen = observe({
      tools: [
        tool('defs', { type: 'object', properties: { q: { $ref: '#/$defs/Q' } }, $defs: { Q: limit } }),
        tool('tree', { type: 'object', properties: { child: { $ref: '#' } } }),
        tool('definitions', {
          type: 'object',
          properties: { q: { $ref: '#/definitions/Q' } },
          definitions: { Q: limit },
        }),
        tool('dangling', { type: 'object', properties: { q: { $ref: '#/$defs/None' } } }),
        tool('remote', { type: 'object', properties: { q: { $ref: 'http://127.0.0.1:9/x.json' } } }),
      ],
    });
    expect(['defs', 'tree', 'definitions'].map((name) => seen[name]?.obstacle)).toEqual([null, null, null]);
    expect(seen['dangling']?.obstacle).toMatch(/schema cannot be used: .*reference/);
    expect(seen['remote']?.obstacle).toMatch(/leaves the document/);
  });

  it('hands the pin of each tool on', () => {
    const pin = { post: 'a'.repeat(64) };
    const seen = observe({ tools: [tool('post'), tool('__proto__')] }, pin);
    expect(seen['post']?.pin).toBe(pin.post);
    expect(observe({ tools: [tool('toString')] }, pin)['toString']).toMatchObject({
      pin: null,
      traits: { leavesSystem: true },
    });
  });
});
