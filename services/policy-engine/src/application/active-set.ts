import { ConfigError, type ConfigFault, InvariantViolationError } from '@lineclear/errors';
import { type PreparedSlice, prepareSlice, validateSlice } from '../adapters/cedar/cedar.js';
import type { CedarPolicy } from '../domain/cedar-text.js';
import type { Policies } from '../domain/decide-call.js';
import { argumentsFault, type CallFacts } from '../domain/facts.js';
import { type Evaluation, judge, type Judgement, undecidable } from '../domain/judge.js';
import { type PolicySet, type PolicyText, toPolicySet } from '../domain/policy-set.js';
import type { Rule } from '../domain/rule.js';
import { contextOf, type Slice, sliceFor, sliceOf } from '../domain/slice.js';
import { doubtOf } from '../domain/explain.js';
import { factsOfTest } from '../domain/test-facts.js';

/** Verdicts kept per tool; a verdict is a function of the context alone. */
const KEPT_EVALUATIONS = 1_000;
const KEPT_CONTEXT_CHARS = 1_000;

interface Desk {
  readonly slice: Slice;
  readonly prepared: PreparedSlice;
  readonly kept: Map<string, Evaluation>;
}

/** A policy set ready to judge calls. One instance per version; synchronous, as evaluation is. */
export class ActiveSet implements Policies {
  private readonly rules: ReadonlyMap<string, Rule>;
  private readonly policies: ReadonlyMap<string, CedarPolicy>;
  private readonly desks = new Map<string, Desk>();

  private constructor(
    readonly set: PolicySet,
    readonly version: number,
    /** what is allowed and probably not meant */
    readonly warnings: readonly string[],
  ) {
    this.rules = new Map(set.rules.map((rule) => [rule.id, rule]));
    this.policies = new Map(set.policies.map((policy) => [policy.id, policy]));
  }

  /**
   * Reads, compiles, validates and tests policy files.
   * @param version as counted by the service; 0: a set that is only looked at
   * @throws ConfigError with every fault at its place; a test that does not come out as expected is one
   */
  static load(texts: readonly PolicyText[], version = 0): ActiveSet {
    const set = toPolicySet(texts);
    const { errors, warnings } = validateSlice(sliceOf(set.policies, 'any'));
    if (errors.length > 0) {
      throw new InvariantViolationError('invariant-violated', 'Cedar refuses what the policy compiler made', {
        details: { errors },
      });
    }
    const active = new ActiveSet(set, version, [...set.warnings, ...warnings]);
    const [first, ...rest] = active.failedTests();
    if (first === undefined) return active;
    active.dispose();
    throw new ConfigError([first, ...rest]);
  }

  /** Never throws for what a call may hold: what cannot be judged is denied, with the reason in `errors`. */
  judge(facts: CallFacts): Judgement {
    const fault = argumentsFault(facts.arguments);
    if (fault !== undefined) return undecidable([{ message: fault }]);
    const desk = this.deskOf(facts.tool);
    const evaluate = (approved: boolean) => evaluateOnce(desk, facts, approved);
    const doubt = (rule: Rule) => doubtOf(rule, facts);
    return judge(facts.tool, facts.roles, this.policies, evaluate, doubt);
  }

  rulesOf(ids: readonly string[]): readonly Rule[] {
    return ids.flatMap((id) => this.rules.get(id) ?? []);
  }

  /** Not to be used after; frees what Cedar keeps. */
  dispose(): void {
    for (const { prepared } of this.desks.values()) prepared.dispose();
    this.desks.clear();
  }

  private deskOf(tool: string): Desk {
    const known = this.desks.get(tool);
    if (known !== undefined) return known;
    const slice = sliceFor(this.set.policies, tool);
    const desk = { slice, prepared: prepareSlice(slice), kept: new Map<string, Evaluation>() };
    this.desks.set(tool, desk);
    return desk;
  }

  private failedTests(): ConfigFault[] {
    return this.set.tests.flatMap(({ test, fault }) => {
      const { verdict: plain, rules, reason } = this.judge(factsOfTest(test));
      const verdict = plain === 'ask' && test.approved ? 'allow' : plain;
      const wanted = `${test.expect}${test.rule === undefined ? '' : ` by rule \`${test.rule}\``}`;
      if (verdict === test.expect && (test.rule === undefined || rules.includes(test.rule))) return [];
      const what = `the test of \`${test.call}\` fails`;
      return [fault({ what, seen: `${verdict} (${reason})`, expected: wanted, next: 'correct the rules or the test' })];
    });
  }
}

function evaluateOnce({ slice, prepared, kept }: Desk, facts: CallFacts, approved: boolean): Evaluation {
  const context = contextOf(slice, facts, approved);
  const key = JSON.stringify(context);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const evaluation = prepared.evaluate(context);
  if (key.length <= KEPT_CONTEXT_CHARS && evaluation.errors.length === 0) {
    if (kept.size >= KEPT_EVALUATIONS) kept.clear();
    kept.set(key, evaluation);
  }
  return evaluation;
}
