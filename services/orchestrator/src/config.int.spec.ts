import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@lineclear/errors';
import { afterEach, describe, expect, it } from 'vitest';
import { orchestratorConfig } from './config.js';

const MODEL = 'model: scripted/invoice\nmaxOutputTokens: 2000\nscript: [{say: done}]\n';
const AGENT = `agent: invoice-clerk
version: 1
prompt: Check it.
model: scripted/invoice
tools: ["erp.*"]
budget: {steps: 12, tokens: 40000, costMicros: 200000, toolCalls: 10, activeMs: 600000, wallMs: 86400000}
`;

describe('the configuration', () => {
  const folders: string[] = [];

  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  const project = (files: Readonly<Record<string, string>>): string => {
    const folder = mkdtempSync(join(tmpdir(), 'orchestrator-'));
    folders.push(folder);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(folder, file, '..'), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return folder;
  };

  const read = (files: Readonly<Record<string, string>>) => orchestratorConfig({ LINECLEAR_PROJECT: project(files) });

  const faults = (files: Readonly<Record<string, string>>): string => {
    try {
      read(files);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
    return 'none';
  };

  it('reads agents with their defaults, and their models', () => {
    const { agents, gateway } = read({
      'agents/a.yaml': AGENT,
      'models/m.yaml': MODEL,
      'agents/notes.txt': 'no agent',
    });
    expect(agents.find('invoice-clerk')).toMatchObject({ maxOutputTokens: 1024, memory: { recall: 0 } });
    expect(gateway.routes()).toEqual(['scripted/invoice']);
  });

  it('lets one model stand in for those of all agents', () => {
    const other = MODEL.replace('scripted/invoice', 'scripted/other');
    const folder = project({ 'agents/a.yaml': AGENT, 'models/m.yaml': MODEL, 'models/o.yaml': other });
    const { agents } = orchestratorConfig({ LINECLEAR_PROJECT: folder, LINECLEAR_MODEL: 'scripted/other' });
    expect(agents.find('invoice-clerk')).toMatchObject({ model: 'scripted/other' });
    expect(() => orchestratorConfig({ LINECLEAR_PROJECT: folder, LINECLEAR_MODEL: 'scripted/othr' })).toThrow(
      /^LINECLEAR_MODEL: no such model is configured; seen `scripted\/othr`; expected `scripted\/other`/,
    );
  });

  it('reads who the tasks of a source act for', () => {
    const producers = 'producers: [{source: /erp/inbox, tenant: acme, subject: inbox, roles: [ap-clerk]}]';
    const files = { 'agents/a.yaml': AGENT, 'models/m.yaml': MODEL };
    const known = read({ ...files, 'producers.yaml': producers }).producers;
    expect(known.principalOf('/erp/inbox')).toMatchObject({ tenant: 'acme' });
    expect(read(files).producers.principalOf('/erp/inbox')).toBeUndefined();
    expect(faults({ ...files, 'producers.yaml': 'producer: []' })).toMatch(/^producers\.yaml:1:1: /);
  });

  it.each<[string, string, RegExp]>([
    [
      'an unknown key',
      `${AGENT}budgets: 1\n`,
      /^agents\/a\.yaml:7:1: key `budgets` is not known.*expected one of .*budget/,
    ],
    ['an unknown version of a key', AGENT.replace('version: 1', 'version: one'), /^agents\/a\.yaml:2:10: /],
    ['a missing key', AGENT.replace(/^prompt.*\n/m, ''), /^agents\/a\.yaml:1:1: key `prompt` is missing/],
    ['an unknown budget', AGENT.replace('steps', 'stepz'), /^agents\/a\.yaml:6:10: key `stepz` is not known/m],
    [
      'an unknown model',
      AGENT.replace('scripted/invoice', 'scripted/invoise'),
      /^agents\/a\.yaml:4:8: no such model.*expected `scripted\/invoice`/,
    ],
    [
      'more output than the model can write',
      `${AGENT}maxOutputTokens: 2001\n`,
      /^agents\/a\.yaml:7:18: .*at most 2000/,
    ],
    ['what is not YAML', 'agent: [', /^agents\/a\.yaml:1:/],
  ])('names %s with line and column', (_, agent, message) => {
    expect(faults({ 'agents/a.yaml': agent, 'models/m.yaml': MODEL })).toMatch(message);
  });

  it('names the faults of all agents at once', () => {
    const files = { 'agents/a.yaml': 'x: 1', 'agents/b.yaml': AGENT, 'agents/c.yaml': AGENT, 'models/m.yaml': MODEL };
    expect(faults(files)).toMatch(
      /agents\/a\.yaml:1:1: .*\n(.*\n)*agents\/c\.yaml:1:8: agent `invoice-clerk` is defined in `agents\/b\.yaml` too/,
    );
  });

  it('says when the project, its agents or a model file cannot be used', () => {
    expect(() => orchestratorConfig({ LINECLEAR_PROJECT: '/nowhere/at/all' })).toThrow(
      'LINECLEAR_PROJECT: the folder does not exist; seen `/nowhere/at/all`; name the project folder',
    );
    expect(faults({ 'models/m.yaml': MODEL })).toMatch(/^agents: the project has no agent/);
    expect(faults({ 'agents/a.yaml': AGENT, 'models/m.yaml': 'model: scripted/x\nscripts: []' })).toMatch(
      /^models\/m\.yaml:2:1: /m,
    );
  });
});
