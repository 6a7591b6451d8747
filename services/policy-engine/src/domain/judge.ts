import type { CedarKind } from './cedar-text.js';
import type { Demand, Effect, Rule } from './rule.js';

/** What an evaluation of Cedar says, by ids of policies: on allow all permits that held, on deny all forbids that held. */
export interface Evaluation {
  readonly decision: 'allow' | 'deny';
  readonly policies: readonly string[];
  readonly errors: readonly EvaluationError[];
}

export interface EvaluationError {
  /** undefined: the request as a whole */
  readonly policy?: string;
  readonly message: string;
}

/** The verdict on a call, with the rules that determined it (all of them, sorted). */
export interface Judgement {
  readonly verdict: Effect;
  readonly rules: readonly string[];
  /** one sentence for the model and for people */
  readonly reason: string;
  /** empty unless something could not be judged; then the verdict is deny */
  readonly errors: readonly JudgementError[];
  readonly terminal: boolean;
  /** what the approval must meet; only for ask */
  readonly demand?: Demand;
}

export interface JudgementError {
  readonly rule?: string;
  readonly message: string;
}

interface Policy {
  readonly kind: CedarKind;
  readonly rule: Rule;
}

/** Who may approve when no rule says it. */
const DEFAULT_APPROVER = 'approver';

/** A call that cannot be judged: denied. */
export function undecidable(errors: readonly JudgementError[]): Judgement {
  const rules = [...new Set(errors.flatMap(({ rule }) => (rule === undefined ? [] : [rule])))].toSorted();
  const [first] = errors;
  const reason = `policy error${first?.rule === undefined ? '' : ` in rule \`${first.rule}\``}: ${first?.message ?? 'unknown'}`;
  return { verdict: 'deny', rules, reason, errors, terminal: false };
}

/**
 * Strictest wins: deny, ask, allow; nothing = deny. INVARIANT: anything that is not a clean allow or ask of Cedar itself is a deny.
 * @param evaluate evaluates the call; asked with `true` only when the call needs an approval and nothing else stands against it
 * @param doubt names what a rule could not judge
 */
export function judge(
  tool: string,
  roles: readonly string[],
  policies: ReadonlyMap<string, Policy>,
  evaluate: (approved: boolean) => Evaluation,
  doubt: (rule: Rule) => string,
): Judgement {
  const plain = evaluate(false);
  if (plain.errors.length > 0) return undecidable(plain.errors.map((error) => toError(error, policies)));
  // Cedar names them in no fixed order
  const held = plain.policies.toSorted().map((id) => policies.get(id));
  const known = held.filter((policy) => policy !== undefined);
  if (known.length < held.length) return undecidable([{ message: 'the evaluation names a policy that is not there' }]);
  if (plain.decision === 'allow') {
    const rules = idsOf(known);
    if (rules.length === 0) return undecidable([{ message: 'the evaluation allows without a rule' }]);
    return { verdict: 'allow', rules, reason: `allowed by ${listed(rules)}`, errors: [], terminal: false };
  }
  if (known.length === 0) return { ...nothing(tool, roles), verdict: 'deny', rules: [], errors: [], terminal: false };
  const doubts = known.filter(({ kind }) => kind === 'undecidable');
  const denials = known.filter(({ kind }) => kind === 'deny');
  if (denials.length > 0) {
    const rules = idsOf(denials);
    return {
      verdict: 'deny',
      rules,
      reason: `denied by ${listed(rules)}`,
      errors: doubts.map(({ rule }) => ({ rule: rule.id, message: doubt(rule) })),
      terminal: denials.some(({ rule }) => rule.terminal),
    };
  }
  if (doubts.length > 0) return undecidable(doubts.map(({ rule }) => ({ rule: rule.id, message: doubt(rule) })));
  return ask(known, evaluate(true), policies);
}

function ask(asks: readonly Policy[], approved: Evaluation, policies: ReadonlyMap<string, Policy>): Judgement {
  if (approved.errors.length > 0) return undecidable(approved.errors.map((error) => toError(error, policies)));
  const rules = idsOf(asks);
  if (approved.decision !== 'allow') {
    return undecidable([{ rule: rules[0] ?? '', message: 'the call would stay denied after an approval' }]);
  }
  const demand = joinDemands(asks.flatMap(({ rule }) => rule.demand ?? []));
  if (demand === undefined) {
    return undecidable(rules.map((rule) => ({ rule, message: 'the rules that ask share no approver role' })));
  }
  return { verdict: 'ask', rules, reason: `asked for by ${listed(rules)}`, errors: [], terminal: false, demand };
}

/** The strictest of all demands, whatever their order; undefined when no role satisfies all. */
export function joinDemands(demands: readonly Demand[]): Demand | undefined {
  const named = demands.map(({ approvers }) => approvers).filter((approvers) => approvers.length > 0);
  const [first = [DEFAULT_APPROVER], ...others] = named;
  const approvers = first.filter((role) => others.every((roles) => roles.includes(role)));
  if (approvers.length === 0 || demands.length === 0) return undefined;
  return {
    approvers,
    fourEyes: demands.some(({ fourEyes }) => fourEyes),
    expiresMs: Math.min(...demands.map(({ expiresMs }) => expiresMs)),
    validForMs: Math.min(...demands.map(({ validForMs }) => validForMs)),
  };
}

function nothing(tool: string, roles: readonly string[]): { readonly reason: string } {
  const who = roles.length === 0 ? 'a caller without roles' : `roles ${listed(roles)}`;
  return { reason: `no rule allows \`${tool}\` for ${who} with these arguments` };
}

function toError(error: EvaluationError, policies: ReadonlyMap<string, Policy>): JudgementError {
  const rule = error.policy === undefined ? undefined : policies.get(error.policy)?.rule.id;
  return { ...(rule === undefined ? {} : { rule }), message: error.message };
}

function idsOf(policies: readonly Policy[]): string[] {
  return [...new Set(policies.map(({ rule }) => rule.id))].toSorted();
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
