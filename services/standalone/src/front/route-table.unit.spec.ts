import { describe, expect, it } from 'vitest';
import { RouteTable } from './route-table.js';

const table = new RouteTable<string>();
for (const [method, path, target] of [
  ['GET', '/v1/runs', 'orchestrator'],
  ['GET', '/v1/runs/:id', 'orchestrator'],
  ['GET', '/v1/runs/:id/events', 'orchestrator'],
  ['GET', '/v1/runs/:id/timeline', 'trace-store'],
  ['POST', '/v1/runs/:runId/replay', 'trace-store'],
  ['GET', '/v1/runs/latest', 'console'],
  ['GET', '/mcp/*', 'memory-store'],
] as const)
  table.add({ method, path }, target);

describe('the route table', () => {
  it.each([
    ['GET', '/v1/runs', 'orchestrator'],
    ['GET', '/v1/runs?state=failed', 'orchestrator'],
    ['GET', '/v1/runs/run_1', 'orchestrator'],
    ['GET', '/v1/runs/run_1/events?after=/v1/x', 'orchestrator'],
    ['GET', '/v1/runs/run_1/timeline', 'trace-store'],
    ['POST', '/v1/runs/run_1/replay', 'trace-store'],
    ['GET', '/v1/runs/latest', 'console'],
    ['GET', '/v1/runs/latest/timeline', 'trace-store'],
    ['GET', '/mcp/memory', 'memory-store'],
    ['GET', '/mcp/a/b', 'memory-store'],
    ['GET', '/v1/runs/run%2F1', 'orchestrator'],
  ])('%s %s goes to %s', (method, url, target) => {
    expect(table.find(method, url)).toBe(target);
  });

  it.each([
    ['POST', '/v1/runs'],
    ['GET', '/'],
    ['GET', ''],
    ['GET', '/v1/runs/'],
    ['GET', '/v1/runs/run_1/unknown'],
    ['GET', '/v1//runs'],
    ['GET', '/__proto__'],
    ['OPTIONS', '*'],
  ])('%s %s goes nowhere', (method, url) => {
    expect(table.find(method, url)).toBeUndefined();
  });

  it('keeps the first target of a route', () => {
    expect(table.add({ method: 'GET', path: '/v1/runs/:other' }, 'late')).toBe(false);
    expect(table.find('GET', '/v1/runs/run_1')).toBe('orchestrator');
  });
});
