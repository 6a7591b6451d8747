import { randomUUID } from 'node:crypto';
import { readJsonObject, readText } from '../json-file.js';
import { EXIT, required, text, type Verb, word } from '../verb.js';

export const inspectVerbs: readonly Verb[] = [
  {
    name: 'policy check',
    usage: 'FILE [--policy POLICY.yaml]',
    what: 'what the policy says of the call in FILE {call, roles, arguments}; with --policy, what that file would say',
    texts: ['policy'],
    run: async (context) => {
      const request = await readJsonObject(word(context, 0, 'FILE'));
      const file = text(context, 'policy');
      const verdict = await context.client.checkPolicy(
        file === undefined ? request : { ...request, policies: await readText(file) },
      );
      context.output.data([verdict]);
      return verdict.errors.length === 0 ? EXIT.done : EXIT.failed;
    },
  },
  {
    name: 'replay',
    usage: 'RUN',
    what: 're-run the core over the recorded inputs; exit 1 and the first difference when it does not agree',
    run: async (context) => {
      const verdict = await context.client.replay(word(context, 0, 'RUN'));
      context.output.data([verdict]);
      return verdict.identical ? EXIT.done : EXIT.failed;
    },
  },
  {
    name: 'audit verify',
    usage: '',
    what: 'check the hash chain of the tenant; exit 1 and the first broken record when it is not whole',
    run: async (context) => {
      const verdict = await context.client.verifyAudit();
      context.output.data([verdict]);
      return verdict.whole ? EXIT.done : EXIT.failed;
    },
  },
  {
    name: 'parked list',
    usage: '',
    what: 'messages set aside, with their reason',
    run: async (context) =>
      context.output.data((await context.client.listParked()).items, [
        'id',
        'service',
        'key',
        'type',
        'state',
        'attempts',
        'error',
      ]),
  },
  {
    name: 'parked show',
    usage: 'ID',
    what: 'one message set aside',
    run: async (context) => context.output.data([await context.client.getParked(word(context, 0, 'ID'))]),
  },
  {
    name: 'parked redrive',
    usage: 'ID',
    what: 'try a message again, and those of its key behind it',
    run: async (context) =>
      context.output.data([(await context.client.redriveParked(word(context, 0, 'ID'))) as object]),
  },
  {
    name: 'parked drop',
    usage: 'ID --reason TEXT',
    what: 'give a message up; whoever waits for it is told',
    texts: ['reason'],
    run: async (context) =>
      context.output.data([
        (await context.client.dropParked(word(context, 0, 'ID'), required(context, 'reason'))) as object,
      ]),
  },
  {
    name: 'events tail',
    usage: '',
    what: 'every event of the tenant as it comes',
    run: async (context) => {
      for await (const { event, data } of context.client.events(context.signal))
        context.output.data([{ type: event, ...(JSON.parse(data) as object) }]);
    },
  },
  {
    name: 'events publish',
    usage: 'FILE --source SOURCE [--id ID]',
    what: 'publish the task data in FILE as a task event, as it is',
    texts: ['source', 'id'],
    run: async (context) => {
      const data = await readText(word(context, 0, 'FILE'));
      const task = { id: text(context, 'id') ?? randomUUID(), source: required(context, 'source'), data };
      context.output.data([await context.client.submit(task)]);
    },
  },
];
