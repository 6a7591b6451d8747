import { CONFIDENTIALITY_LEVELS, INTEGRITY_LEVELS, type Label } from '@lineclear/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLEANEST, isAtLeast, joinLabels, labelOfResult } from './index.js';

const label: fc.Arbitrary<Label> = fc.record({
  confidentiality: fc.constantFrom(...CONFIDENTIALITY_LEVELS),
  integrity: fc.constantFrom(...INTEGRITY_LEVELS),
});

describe('labels', () => {
  it('joins to the stricter on each axis apart', () => {
    const mail: Label = { confidentiality: 'public', integrity: 'untrusted' };
    const salary: Label = { confidentiality: 'restricted', integrity: 'trusted' };
    expect(joinLabels(mail, salary)).toEqual({ confidentiality: 'restricted', integrity: 'untrusted' });
  });

  it('is a join: commutative, associative, idempotent, with the cleanest as neutral element', () => {
    fc.assert(
      fc.property(label, label, label, (a, b, c) => {
        expect(joinLabels(a, b)).toEqual(joinLabels(b, a));
        expect(joinLabels(joinLabels(a, b), c)).toEqual(joinLabels(a, joinLabels(b, c)));
        expect(joinLabels(a, a)).toEqual(a);
        expect(joinLabels(a, CLEANEST)).toEqual(a);
        expect(isAtLeast(joinLabels(a, b), a)).toBe(true);
      }),
    );
  });

  it('orders by both axes', () => {
    expect(isAtLeast(CLEANEST, { confidentiality: 'internal', integrity: 'trusted' })).toBe(false);
    expect(isAtLeast(CLEANEST, { confidentiality: 'public', integrity: 'untrusted' })).toBe(false);
  });

  it('never makes a result cleaner than what the call was made from', () => {
    fc.assert(
      fc.property(label, fc.option(label, { nil: undefined }), (call, stated) => {
        expect(isAtLeast(labelOfResult(call, stated), call)).toBe(true);
      }),
    );
    expect(labelOfResult(CLEANEST, undefined).integrity).toBe('untrusted');
    expect(labelOfResult(CLEANEST, CLEANEST)).toEqual(CLEANEST);
  });
});
