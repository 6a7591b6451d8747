import { readJsonObject } from '../json-file.js';
import { required, text, UsageError, type Verb, word } from '../verb.js';

export const toolVerbs: readonly Verb[] = [
  {
    name: 'tools list',
    usage: '',
    what: 'every tool with its status',
    run: async (context) => {
      const { items } = await context.client.listTools();
      context.output.data(items, ['name', 'server', 'originalName', 'definitionHash', 'status', 'reason']);
    },
  },
  {
    name: 'tools show',
    usage: 'TOOL',
    what: 'one tool with its definition',
    run: async (context) => context.output.data([await context.client.getTool(word(context, 0, 'TOOL'))]),
  },
  {
    name: 'tools disable',
    usage: 'TOOL --reason TEXT',
    what: 'refuse every dispatch of a tool from now on, also of calls already authorized',
    texts: ['reason'],
    run: async (context) =>
      context.output.data([await context.client.disableTool(word(context, 0, 'TOOL'), required(context, 'reason'))]),
  },
  {
    name: 'tools enable',
    usage: 'TOOL --reason TEXT',
    what: 'take a disabled tool back',
    texts: ['reason'],
    run: async (context) =>
      context.output.data([await context.client.enableTool(word(context, 0, 'TOOL'), required(context, 'reason'))]),
  },
  {
    name: 'calls unknown',
    usage: '',
    what: 'calls whose outcome is not known',
    run: async (context) =>
      context.output.data((await context.client.unknownCalls()).items, ['callId', 'tool', 'key', 'since']),
  },
  {
    name: 'calls resolve',
    usage: 'CALL --outcome happened|not-happened --reason TEXT [--result FILE]',
    what: 'say what became of an unknown call; refused while an attempt could still act',
    texts: ['outcome', 'reason', 'result'],
    run: async (context) => {
      const outcome = required(context, 'outcome');
      if (outcome !== 'happened' && outcome !== 'not-happened')
        throw new UsageError(`\`--outcome\` is \`${outcome}\`, expected happened or not-happened`);
      const file = text(context, 'result');
      const result = file === undefined ? {} : { result: await readJsonObject(file) };
      const resolution = { outcome, reason: required(context, 'reason'), ...result } as const;
      context.output.data([(await context.client.resolveCall(word(context, 0, 'CALL'), resolution)) as object]);
    },
  },
];
