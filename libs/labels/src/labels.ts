import { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS, type Label } from '@lineclear/contracts';

/** Neutral element of `joinLabels`: what nothing has touched yet. */
export const CLEANEST: Label = { confidentiality: 'public', integrity: 'trusted' };

/** What a value is whose label nobody stated, such as a tool's answer: the caution costs an approval, the lack of it an effect. */
export const UNSTATED: Label = { confidentiality: 'internal', integrity: 'untrusted' };

const stricter = <T>(levels: readonly T[], a: T, b: T): T => (levels.indexOf(a) >= levels.indexOf(b) ? a : b);

/** Label of a value made from all of these: as closed as the most closed, as untrusted as the least trusted. */
export function joinLabels(...labels: readonly Label[]): Label {
  return labels.reduce(
    (a, b) => ({
      confidentiality: stricter(CONFIDENTIALITY_LEVELS, a.confidentiality, b.confidentiality),
      integrity: stricter(INTEGRITY_LEVELS, a.integrity, b.integrity),
    }),
    CLEANEST,
  );
}

/** True when `label` is as strict as `floor` on both axes, or stricter. */
export function isAtLeast(label: Label, floor: Label): boolean {
  return (
    CONFIDENTIALITY_LEVELS.indexOf(label.confidentiality) >= CONFIDENTIALITY_LEVELS.indexOf(floor.confidentiality) &&
    INTEGRITY_LEVELS.indexOf(label.integrity) >= INTEGRITY_LEVELS.indexOf(floor.integrity)
  );
}

/**
 * Label of a tool's result: at least as strict as what the call was made from, and untrusted unless the tool's own label says otherwise.
 * INVARIANT: a result never reads as more trusted or more public than its arguments.
 */
export function labelOfResult(call: Label, stated: Label | undefined): Label {
  return joinLabels(call, stated ?? UNSTATED);
}
