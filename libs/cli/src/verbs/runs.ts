import { randomUUID } from 'node:crypto';
import type { RunView } from '@lineclear/client';
import { readJsonObject } from '../json-file.js';
import type { Output } from '../output.js';
import { callsOfRun, type RunCall } from '../run-calls.js';
import { EXIT, required, text, type Verb, word } from '../verb.js';

const COLUMNS = ['runId', 'taskId', 'state', 'reason', 'turn'];

export const runVerbs: readonly Verb[] = [
  {
    name: 'run',
    usage: 'AGENT --input FILE [--id ID] [--source SOURCE] [--no-wait]',
    what: 'submit a task with the JSON object in FILE (- for stdin) as input and wait for its end',
    texts: ['input', 'id', 'source'],
    flags: ['no-wait'],
    run: async (context) => {
      const agent = word(context, 0, 'AGENT');
      const input = await readJsonObject(required(context, 'input'));
      const task = {
        id: text(context, 'id') ?? randomUUID(),
        source: text(context, 'source') ?? '/cli',
        data: { agent, input },
      };
      const submitted = await context.client.submit(task);
      if (context.options['no-wait'] === true) return context.output.data([submitted], Object.keys(submitted));
      const run = await context.client.waitForRun(submitted.runId);
      context.output.data([run]);
      return run.state === 'answered' ? EXIT.done : EXIT.failed;
    },
  },
  {
    name: 'runs list',
    usage: '[--state STATE] [--task ID] [--limit N]',
    what: 'the newest runs of the tenant',
    texts: ['state', 'task', 'limit'],
    run: async (context) => {
      const limit = text(context, 'limit');
      const filter = {
        state: text(context, 'state'),
        taskId: text(context, 'task'),
        limit: limit === undefined ? undefined : Number(limit),
      };
      const page = await context.client.listRuns(defined(filter));
      context.output.data(page.items, COLUMNS);
    },
  },
  {
    name: 'runs show',
    usage: 'RUN',
    what: 'one run: its state, the calls of all its turns with verdicts, rules and outcomes, budget',
    run: async (context) => {
      const run = await context.client.getRun(word(context, 0, 'RUN'));
      const { calls, whole } = await callsOfRun(context.client, run);
      if (!whole) context.output.say('the trace store has not got the end of this run yet: calls may be missing');
      if (context.json) return context.output.data([{ ...run, calls }]);
      showRun(run, calls, context.output.data);
    },
  },
  {
    name: 'runs watch',
    usage: 'RUN',
    what: 'the events of a run as they come, until it ends',
    run: async (context) => {
      for await (const event of context.client.runEvents(word(context, 0, 'RUN'), context.signal)) {
        context.output.data([{ type: event.event, data: JSON.parse(event.data) as unknown }]);
        if (event.event === 'lineclear.run.finished.v1') return;
      }
    },
  },
  {
    name: 'runs cancel',
    usage: 'RUN [--reason TEXT]',
    what: 'stop a run; open calls are fenced first',
    texts: ['reason'],
    run: async (context) => {
      const reason = text(context, 'reason') ?? 'cancelled from the command line';
      context.output.data([await context.client.cancelRun(word(context, 0, 'RUN'), reason)]);
    },
  },
  {
    name: 'runs budget',
    usage: 'RUN',
    what: 'limit, spent and reserved of each budget line',
    run: async (context) => {
      const { budget } = await context.client.getRun(word(context, 0, 'RUN'));
      if (context.json) return context.output.data([budget]);
      context.output.data(budgetRows(budget), ['line', 'limit', 'spent', 'reserved']);
    },
  },
];

function showRun(run: RunView, calls: readonly RunCall[], data: Output['data']): void {
  data([run], COLUMNS);
  if (calls.length > 0) data(calls, ['callId', 'tool', 'verdict', 'rules', 'status', 'reason', 'arguments']);
  data(budgetRows(run.budget), ['line', 'limit', 'spent', 'reserved']);
}

const budgetRows = (budget: RunView['budget']) =>
  Object.entries(budget).map(([line, amounts]) => ({ line, ...amounts }));

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
