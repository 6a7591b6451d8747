// Evaluates inside an async batch handler under load, in a process of its own: `cedar-under-load.ts SECONDS [--without-flag]`.
// Optimised code is thrown away while Cedar runs, as garbage collection and new shapes do now and then in a busy process. Once V8 has inlined the
// call, that may end the process ("unreachable code" in DoComputeBuiltinContinuation): the V8 of Node 20 dies of it every time; that of Node 24 was
// seen to die under the load of a whole platform, and survives it here. V8 tells of the frames it rebuilds, so the test sees whether the call was
// inlined even where the process lives on.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { toPolicySet } from '../../../domain/policy-set.js';
import { type Context, contextOf, sliceOf } from '../../../domain/slice.js';
import { ASSUMED_TRAITS } from '../../../domain/traits.js';
import { prepareSlice } from '../cedar.js';

const [seconds = '3', flag] = process.argv.slice(2);
if (flag === '--without-flag') setFlagsFromString('--turbo-inline-js-wasm-calls');
setFlagsFromString('--allow-natives-syntax');
const trace = (is: boolean): void => {
  for (const name of ['trace-deopt', 'trace-deopt-verbose']) setFlagsFromString(`--${is ? '' : 'no-'}${name}`);
};
type Native = (handler: unknown) => void;
const prepare = runInThisContext('(f) => %PrepareFunctionForOptimization(f)') as Native;
const optimize = runInThisContext('(f) => %OptimizeFunctionOnNextCall(f)') as Native;
const deoptimize = runInThisContext('(f) => %DeoptimizeFunction(f)') as Native;

const rules = Array.from({ length: 22 }, (_, index) => {
  const effect = ['allow', 'ask', 'deny'][index % 3] ?? 'allow';
  return `  - {id: r${index}, ${effect}: "erp.t${index % 5}*", where: {a${index}: {present: true, min: ${index}}}}`;
});
const set = toPolicySet([{ file: 'load', text: `policy: load\nversion: 1\nrules:\n${rules.join('\n')}\n` }]);
const slice = sliceOf(set.policies, 'erp.t1');
const prepared = prepareSlice(slice);

async function handle(numbers: readonly number[], change: (context: Context) => Context): Promise<number> {
  let allowed = 0;
  for (const n of numbers) {
    const facts = {
      tool: `erp.t${n % 5}`,
      roles: n % 2 === 0 ? ['clerk'] : [],
      arguments: { [`a${n % 22}`]: n % 7 === 0 ? 'text' : n },
      traits: ASSUMED_TRAITS,
      label: { confidentiality: 'internal', integrity: 'trusted' } as const,
    };
    const { decision } = prepared.evaluate(change(contextOf(slice, facts, n % 11 === 0)));
    if (decision === 'allow') allowed += 1;
    if (n % 16 === 0) await Promise.resolve();
  }
  return allowed;
}

let isArmed = false;

/** A context that, when armed, throws the code around the call away while Cedar reads it. */
const watched = (context: Context): Context =>
  Object.defineProperty({ ...context }, 'approved', {
    enumerable: true,
    get: () => {
      if (isArmed) for (const one of code) deoptimize(one);
      return context['approved'];
    },
  });

const code = [prepared.evaluate, handle];
for (const one of code) prepare(one);

/** Optimises the code around the call, then throws it away during the call. */
async function disturb(): Promise<void> {
  for (const one of code) optimize(one);
  await handle([1, 2], watched);
  isArmed = true;
  trace(true);
  await handle([3], watched);
  trace(false);
  isArmed = false;
}

const ends = performance.now() + Number(seconds) * 1_000;
let evaluations = 0;
for (let batches = 1; performance.now() < ends || batches < 40; batches += 1) {
  const batch = Array.from({ length: 1 + (evaluations % 64) }, (_, index) => evaluations + index);
  await handle(batch, watched);
  evaluations += batch.length;
  if (batches % 8 === 0) await disturb();
  await nextTurn();
}
process.stdout.write(`survived ${evaluations}\n`);
