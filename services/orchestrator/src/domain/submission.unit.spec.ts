import { type AgentDefinition, agentDefinitionSchema, type Principal, sha256Hex } from '@lineclear/contracts';
import { describe, expect, it } from 'vitest';
import { AgentCatalog } from './agent-catalog.js';
import { type JudgeContext, judgeSubmission } from './judge-submission.js';
import { readSubmission, type Submission } from './submission.js';

const agent = (name: string, model = 'scripted/invoice'): AgentDefinition =>
  agentDefinitionSchema.parse({
    agent: name,
    version: 1,
    prompt: 'Check it.',
    model,
    tools: ['erp.*'],
    budget: { steps: 1, tokens: 1, costMicros: 1, toolCalls: 1, activeMs: 1, wallMs: 1 },
    principal: { roles: ['ap-clerk', 'auditor'] },
  });

const PRICE = { input: 1, cacheRead: 1, cacheWrite: 1, output: 1 };
const CONTEXT: JudgeContext = {
  agents: new AgentCatalog([agent('invoice-clerk'), agent('travel-clerk'), agent('unpriced', 'scripted/free')]),
  describeModel: (route) => ({ price: route === 'scripted/free' ? null : PRICE, maxOutputTokens: 10 }),
};
const INBOX: Principal = { tenant: 'acme', subject: 'inbox', roles: ['ap-clerk', 'cfo'], scopes: [] };

const BINARY = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': 'b17/inv-007',
  'ce-source': '/erp/inbox',
  'ce-type': 'lineclear.task.submit.v1',
};
const DATA = '{"agent":"invoice-clerk","input":{"invoice":{"number":"INV-7"}},"tags":["demo"]}';

const STRUCTURED = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
const structured = (attributes: Record<string, unknown> = {}, data = DATA): string =>
  JSON.stringify({
    specversion: '1.0',
    id: 'b17/inv-007',
    source: '/erp/inbox',
    type: 'lineclear.task.submit.v1',
    tenant: 'acme',
    datacontenttype: 'application/json',
    data: JSON.parse(data) as unknown,
    ...attributes,
  });

function read(headers: Readonly<Record<string, string>>, body: string | Buffer | null): Submission {
  const result = readSubmission(headers, body === null ? null : Buffer.from(body), { binding: 'http' });
  if ('unnamed' in result) throw new Error(`unnamed: ${result.unnamed.where}`);
  return result.submission;
}

const judge = (submission: Submission, principal: Principal | null = INBOX) =>
  judgeSubmission(submission, principal, CONTEXT);

describe('a submission', () => {
  it('reads the same in binary and in structured mode', () => {
    const binary = read({ ...BINARY, 'ce-tenant': 'acme' }, DATA);
    expect(read(STRUCTURED, structured())).toEqual(binary);
    expect(binary).toMatchObject({ task: { id: 'b17/inv-007', source: '/erp/inbox' }, payloadHash: sha256Hex(DATA) });
  });

  it('keeps what names a task that cannot be read', () => {
    const submission = read(BINARY, 'not json');
    expect(submission).toMatchObject({
      task: { id: 'b17/inv-007', source: '/erp/inbox' },
      payloadHash: sha256Hex('not json'),
    });
    expect(read(BINARY, 'not json').payloadHash).not.toBe(read(BINARY, 'not json!').payloadHash);
  });

  it.each([
    ['no id', { ...BINARY, 'ce-id': '' }],
    ['no source', { ...BINARY, 'ce-source': '' }],
    ['no attributes', { 'content-type': 'application/json' }],
  ])('is nameless with %s', (_, headers) => {
    expect(readSubmission(headers, Buffer.from(DATA), { binding: 'http' })).toHaveProperty('unnamed.where');
  });

  it('names a task with a name that no store takes by one that all take', () => {
    const { task, fault } = read(STRUCTURED, structured({ id: 'a\u0000b\u001f\ud800c'.padEnd(3000, 'x') }));
    expect(task.id).toMatch(/^a\uFFFDb\uFFFD\uFFFDcx+$/);
    expect(task.id).toHaveLength(200);
    expect(fault).toMatchObject({ where: 'id' });
  });
});

describe('the judgement', () => {
  it('accepts a task for its producer, with the roles that the agent names too', () => {
    expect(judge(read(BINARY, DATA))).toEqual({
      definition: CONTEXT.agents.find('invoice-clerk'),
      principal: { ...INBOX, roles: ['ap-clerk'] },
      price: PRICE,
      input: { invoice: { number: 'INV-7' } },
      label: { confidentiality: 'internal', integrity: 'trusted' },
      conversationId: undefined,
      taskType: undefined,
      tags: ['demo'],
    });
  });

  const big = JSON.stringify({ agent: 'invoice-clerk', input: { scan: 'x'.repeat(262_144) } });
  const deep = `{"agent":"invoice-clerk","input":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`;

  it.each<[string, Record<string, string>, string | Buffer | null, Record<string, unknown>]>([
    [
      'another specversion',
      { ...BINARY, 'ce-specversion': '0.3' },
      DATA,
      { where: 'specversion', seen: '0.3', expected: '`1.0`' },
    ],
    [
      'another type version',
      { ...BINARY, 'ce-type': 'lineclear.task.submit.v2' },
      DATA,
      { reason: 'unsupported-version', where: 'type', seen: 'lineclear.task.submit.v2' },
    ],
    [
      'another type',
      { ...BINARY, 'ce-type': 'order.created' },
      DATA,
      { reason: 'unknown-type', expected: '`lineclear.task.submit.v1`' },
    ],
    [
      'another tenant',
      { ...BINARY, 'ce-tenant': 'globex' },
      DATA,
      { reason: 'forbidden', where: 'tenant', seen: 'globex' },
    ],
    ['content that is not JSON', BINARY, '%PDF-1.7', { where: 'data', seen: '%PDF-1.7', expected: 'JSON' }],
    ['nothing at all', BINARY, '', { where: 'data', seen: 'nothing' }],
    ['a tombstone', BINARY, null, { where: 'value', seen: 'nothing (a tombstone)' }],
    [
      'bytes that are not UTF-8',
      BINARY,
      Buffer.from([0x7b, 0xff, 0x7d]),
      { where: 'value', seen: 'bytes that are not UTF-8' },
    ],
    [
      'another content type',
      { ...BINARY, 'content-type': 'application/pdf' },
      DATA,
      { where: 'content-type', seen: 'application/pdf' },
    ],
    ['more than 256 KiB', BINARY, big, { reason: 'too-large', where: 'data', expected: 'at most 262144 bytes' }],
    ['deep nesting', BINARY, deep, { where: 'data', seen: 'deeper nesting', expected: 'at most 64 levels' }],
    [
      'U+0000 in a text',
      BINARY,
      String.raw`{"agent":"invoice-clerk","input":{"a":"x\u0000y"}}`,
      { where: 'data', expected: expect.stringContaining('U+0000') },
    ],
    ['U+0000 in a key', BINARY, String.raw`{"agent":"invoice-clerk","input":{"x\u0000":1}}`, { where: 'data' }],
    ['half a surrogate pair', BINARY, String.raw`{"agent":"invoice-clerk","input":{"a":"\ud83d"}}`, { where: 'data' }],
    [
      'a number that would be rounded',
      BINARY,
      '{"agent":"invoice-clerk","input":{"a":12345678901234567891}}',
      { where: 'data', seen: '12345678901234567891' },
    ],
    ['no agent', BINARY, '{"input":{}}', { where: 'data.agent', seen: 'nothing', expected: 'string' }],
    ['an agent that is no text', BINARY, '{"agent":7,"input":{}}', { where: 'data.agent', seen: '7' }],
    ['no input', BINARY, '{"agent":"invoice-clerk"}', { where: 'data.input', seen: 'nothing' }],
    ['an input that is a list', BINARY, '{"agent":"invoice-clerk","input":[]}', { where: 'data.input', seen: '[]' }],
    [
      'an unknown field',
      BINARY,
      '{"agent":"invoice-clerk","input":{},"conversationID":"c"}',
      { where: 'data.conversationID', expected: expect.stringMatching(/^`conversationId`/) },
    ],
    ['data that is a list', BINARY, '[]', { where: 'data', seen: '[]' }],
    [
      'an unknown agent',
      BINARY,
      '{"agent":"invoice-clark","input":{}}',
      { where: 'data.agent', seen: 'invoice-clark', expected: '`invoice-clerk`, `travel-clerk`, `unpriced`' },
    ],
    [
      'a model without a price',
      BINARY,
      '{"agent":"unpriced","input":{}}',
      { reason: 'refused', seen: 'scripted/free without a price' },
    ],
  ])('refuses %s', (_, headers, body, refusal) => {
    expect(judge(read(headers, body))).toEqual({
      reason: 'invalid-message',
      where: expect.any(String),
      seen: expect.any(String),
      expected: expect.any(String),
      next: expect.any(String),
      ...refusal,
    });
  });

  it('refuses a source that no producer has', () => {
    expect(judge(read(BINARY, DATA), null)).toMatchObject({ reason: 'forbidden', where: 'source', seen: '/erp/inbox' });
  });
});
