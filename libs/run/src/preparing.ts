import type { EventData } from '@lineclear/contracts';
import type { Draft } from './draft.js';
import { finish } from './ending.js';
import type { EventInputOf } from './input.js';
import { nextStep } from './next-step.js';

/** One half of the join. The toolset is fixed for the run: another one later is refused. */
export function takeToolset(draft: Draft, input: EventInputOf<'toolset.resolved'>): void {
  const { toolset } = draft.run;
  const { toolsetHash, tools } = input.data;
  if (toolset === undefined && draft.run.stage === 'preparing') {
    draft.note({ name: 'toolset-fixed', id: input.id, hash: toolsetHash, tools });
    return join(draft);
  }
  if (toolset === undefined || toolset.id === input.id || toolset.hash === toolsetHash)
    return draft.remark('duplicate', input.name);
  draft.remark('violation', 'toolset.resolved comes a second time with other tools');
  draft.note({ name: 'violation', what: 'toolset.resolved comes a second time with other tools' });
}

/** The other half. A late one is only recorded: the run went on without. */
export function takeRecall(draft: Draft, { id, name, data }: EventInputOf<'memory.recalled'>): void {
  const { stage, recalled, recallId, definition } = draft.run;
  if (stage === 'preparing' && !recalled) return joinRecall(draft, { id, facts: data.facts });
  if (recallId === id || definition.memory.recall === 0) return draft.remark('duplicate', name);
  draft.remark('late', name);
  draft.note({ name: 'recall-late', id });
}

export function endRecallWait(draft: Draft): void {
  joinRecall(draft, { facts: [] });
}

function joinRecall(
  draft: Draft,
  recalled: { readonly id?: string; readonly facts: EventData<'memory.recalled'>['facts'] },
): void {
  draft.note({ name: 'recall-joined', ...recalled });
  join(draft);
}

function join(draft: Draft): void {
  const { toolset, recalled, definition } = draft.run;
  if (toolset === undefined || !recalled) return;
  if (definition.tools.length === 0 || toolset.tools.some(({ status }) => status === 'available'))
    return nextStep(draft);
  const reasons = toolset.tools
    .slice(0, 3)
    .map(({ name, status, reason }) => `\`${name}\` is ${status}${reason ? ` (${reason})` : ''}`);
  const why =
    reasons.length === 0
      ? `nothing matches ${definition.tools.map((glob) => `\`${glob}\``).join(', ')}`
      : reasons.join(', ');
  finish(draft, { target: 'failed', reason: `no tool of the agent can be used: ${why}` });
}
