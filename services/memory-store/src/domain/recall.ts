import { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS, type Label } from '@lineclear/contracts';
import type { Fact } from './fact.js';

const CHARS_PER_TOKEN = 4;

/** The first `k` facts that fit into `maxTokens` together, in their order; one that is too large is passed over. Tokens are estimated. */
export function boundedRecall<F extends Pick<Fact, 'text'>>(ranked: readonly F[], k: number, maxTokens: number): F[] {
  const taken: F[] = [];
  let left = maxTokens;
  for (const fact of ranked) {
    const tokens = Math.ceil(fact.text.length / CHARS_PER_TOKEN);
    if (taken.length === k) break;
    if (tokens > left) continue;
    taken.push(fact);
    left -= tokens;
  }
  return taken;
}

/** The label of several facts read together: the most closed and the least trusted of them; of none: internal and trusted. */
export function labelOf(facts: readonly Pick<Fact, 'label'>[]): Label {
  const highest = <L extends string>(levels: readonly L[], least: L, pick: (label: Label) => L): L =>
    facts.reduce<L>(
      (most, { label }) => (levels.indexOf(pick(label)) > levels.indexOf(most) ? pick(label) : most),
      least,
    );
  return {
    confidentiality: highest(CONFIDENTIALITY_LEVELS, 'internal', (label) => label.confidentiality),
    integrity: highest(INTEGRITY_LEVELS, 'trusted', (label) => label.integrity),
  };
}
