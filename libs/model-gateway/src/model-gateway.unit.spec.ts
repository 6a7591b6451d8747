import { describe, expect, it } from 'vitest';
import { createModelGateway } from './model-gateway.js';
import type { ModelProvider, ModelRequest } from './ports.js';
import { createScriptedProvider } from './scripted/scripted-provider.js';

const scripted = createScriptedProvider([
  { file: 'models/invoice.yaml', text: 'model: scripted/invoice\nscript: [{say: done, delayMs: 1}]' },
]);

const broken: ModelProvider = {
  name: 'broken',
  models: [],
  describe: () => ({ price: null, maxOutputTokens: 1 }),
  call: () => Promise.reject(new TypeError('secret detail')),
};

const gateway = createModelGateway([scripted, broken]);

const request = (route: string): ModelRequest => ({
  route,
  system: '',
  messages: [],
  tools: [],
  maxOutputTokens: 10,
  task: {},
  turn: 1,
  step: 1,
  attempt: 1,
  tenant: 'acme',
  runId: 'run_1',
  agent: 'a',
});

const call = (route: string, signal = new AbortController().signal) => gateway.call(request(route), signal);

describe('the gateway', () => {
  it('passes a call to the provider that the route names', async () => {
    expect(await call('scripted/invoice')).toMatchObject({ status: 'succeeded', reply: { text: 'done' } });
  });

  it('describes models and lists routes', () => {
    expect(gateway.describe('scripted/invoice')).toMatchObject({ maxOutputTokens: 4096 });
    expect(gateway.describe('broken/any/model')).toEqual({ price: null, maxOutputTokens: 1 });
    expect(['scripted/nope', 'nope/x', 'scripted', 'scripted/', ''].map((route) => gateway.describe(route))).toEqual(
      Array(5).fill(undefined),
    );
    expect(gateway.routes()).toEqual(['scripted/invoice']);
  });

  it.each([
    [
      'nope/x',
      'model `nope/x` names no known provider; expected `<provider>/<model>` with a provider of `scripted`, `broken`',
    ],
    ['scripted/x', 'model `scripted/x` does not exist; expected one of `scripted/invoice`'],
  ])('fails for good on the route %s', async (route, message) => {
    expect(await call(route)).toMatchObject({ status: 'failed', failure: { message, retryable: false } });
  });

  it('turns what a provider throws into a failure without its text', async () => {
    expect(await call('broken/x')).toMatchObject({
      status: 'failed',
      failure: { code: 'internal', message: 'an internal error occurred; see the log of the service' },
    });
  });

  it('rejects with CancelledError when it is stopped', async () => {
    await expect(call('scripted/invoice', AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  });
});
