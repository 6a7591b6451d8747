import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseToolsFile } from './tools-file.js';

const GOOD = `servers:
  erp:
    command: [node, erp-server.mjs]
    env: {ERP_LEDGER: "\${ERP_LEDGER}/x", ERP_TOKEN: {secret: env:ERP_TOKEN}}
    pin: accept-first
    tools:
      invoice_post: {write: true, key: honoured, businessKey: [supplier, number], timeoutMs: 5000}
      get_po: {write: false, repeatable: true}
`;
const ENVIRONMENT = { ERP_LEDGER: '/ledger', ERP_TOKEN: 'hunter2' };

const faults = (text: string, environment: Record<string, string> = ENVIRONMENT) => {
  try {
    parseToolsFile(text, 'tools.yaml', environment);
    return [];
  } catch (error) {
    return String(error instanceof Error ? error.message : error).split('\n');
  }
};

describe('tools.yaml', () => {
  it('gives each server its command, environment and traits, with the worst assumed for what is not said', () => {
    const [erp] = parseToolsFile(GOOD, 'tools.yaml', ENVIRONMENT);
    expect(erp).toMatchObject({ name: 'erp', command: ['node', 'erp-server.mjs'], pin: 'accept-first', era: 'auto' });
    expect(erp?.env['ERP_LEDGER']).toBe('/ledger/x');
    expect(erp?.tools['invoice_post']?.traits).toEqual({
      write: true,
      repeatable: false,
      leavesSystem: false,
      key: 'honoured',
      businessKey: ['supplier', 'number'],
      timeoutMs: 5000,
      unknownWaitMs: 30_000,
    });
    expect(erp?.tools['get_po']?.traits).toMatchObject({ write: false, key: 'none', timeoutMs: 30_000 });
  });

  it('never shows a secret', () => {
    const servers = parseToolsFile(GOOD, 'tools.yaml', ENVIRONMENT);
    expect(JSON.stringify(servers)).not.toContain('hunter2');
    expect(inspect(servers, { depth: 9, showHidden: true })).not.toContain('hunter2');
    expect(`${String(servers[0]?.env['ERP_TOKEN'])}`).toBe('[secret]');
  });

  it.each([
    ['an unknown key', `${GOOD}    pni: x\n`, /^tools\.yaml:9:5: key `pni` is not known in `servers\.erp`/],
    [
      'a server by url',
      `${GOOD}  docs: {url: "http://127.0.0.1:9000/mcp", era: auto}\n`,
      /^tools\.yaml:9:10: server `docs` is reached by `url`, which comes with a later release/,
    ],
    ['a server without command', 'servers:\n  erp: {}\n', /^tools\.yaml:2:8: server `erp` has no `command`/],
    [
      'a key argument without an honoured key',
      'servers: {erp: {command: [x], tools: {t: {keyArgument: k}}}}',
      /^tools\.yaml:1:43: an argument that carries the key needs `key: honoured`/,
    ],
    [
      'a business key of a read',
      'servers: {erp: {command: [x], tools: {t: {write: false, businessKey: [a]}}}}',
      /^tools\.yaml:1:57: a tool with `write: false` has no business key/,
    ],
    ['a server name with an underscore', 'servers: {my_erp: {command: [x]}}', /^tools\.yaml:1:/],
    ['a pin that is no hash', 'servers: {erp: {command: [x], pin: {t: abc}}}', /^tools\.yaml:1:/],
    ['a command as text', 'servers: {erp: {command: "rm -rf /"}}', /`servers\.erp\.command` does not fit/],
  ])('names the place of %s', (_, text, expected) => {
    expect(faults(text)[0]).toMatch(expected);
  });

  it('names a variable that is not set', () => {
    expect(faults(GOOD, {})).toEqual([
      'tools.yaml:4:23: environment variable `ERP_LEDGER` is not set; expected a value for `ERP_LEDGER` of server `erp`; set it',
      'tools.yaml:4:53: environment variable `ERP_TOKEN` is not set; expected a value for `ERP_TOKEN` of server `erp`; set it',
    ]);
  });
});
