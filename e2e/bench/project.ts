import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../src/root.js';

const TOOL_SERVER = join(ROOT, 'e2e/bench/tool-server.mjs');

/** The policy set of the prototype's size: one rule decides, the others are there to be looked at. */
const OTHER_RULES = 21;

const agent = (steps: number) => `agent: bench-${steps}
version: 1
prompt: Call the tool.
model: scripted/bench-${steps}
tools: ["bench.*"]
budget: {steps: ${steps + 1}, tokens: 1000000000, costMicros: 1000000000, toolCalls: ${steps}, activeMs: 3600000, wallMs: 3600000}
context: {clearAtTokens: 1000000, keepResults: 3}
memory: {recall: 0}
maxOutputTokens: 100
principal: {roles: [bench]}
`;

const model = (steps: number) => `model: scripted/bench-${steps}
price: {input: 1000000, cacheRead: 100000, cacheWrite: 1250000, output: 4000000}
script:
  - when: {step: {max: ${steps}}}
    usage: {uncached: 100, output: 20}
    call: [{tool: bench.noop, arguments: {n: "{{= step}}"}}]
  - say: done
`;

const policy = () => `policy: bench
version: 1
rules:
  - {id: noop, allow: bench.noop, roles: [bench]}
${Array.from({ length: OTHER_RULES }, (_, n) => `  - {id: other-${n}, ask: "other.tool_${n}", where: {amount: {min: ${n}}}, approvers: [finance]}`).join('\n')}
`;

/** Writes the benchmark's project folder: agents of these step counts with an instant scripted model and an instant tool. */
export async function benchProject(stepCounts: readonly number[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lineclear-bench-'));
  for (const part of ['agents', 'models', 'policies', 'home']) await mkdir(join(folder, part));
  for (const steps of stepCounts) {
    await writeFile(join(folder, 'agents', `bench-${steps}.yaml`), agent(steps));
    await writeFile(join(folder, 'models', `bench-${steps}.yaml`), model(steps));
  }
  await writeFile(join(folder, 'policies', 'bench.yaml'), policy());
  await writeFile(join(folder, 'producers.yaml'), 'producers: []\n');
  await writeFile(
    join(folder, 'tools.yaml'),
    `servers:\n  bench:\n    command: [node, ${JSON.stringify(TOOL_SERVER)}]\n    pin: accept-first\n    tools:\n      noop: {write: true, key: honoured, timeoutMs: 30000}\n`,
  );
  return folder;
}
