import { describe, expect, it } from 'vitest';
import { jsonView, reportText, type Summary } from './view.js';

const summary: Summary = {
  kind: 'summary',
  batch: 'b',
  runs: 0,
  ok: 0,
  failed: 0,
  effects: 0,
  effectsWithoutDecision: 0,
  url: 'http://127.0.0.1:1',
  durationMs: 1,
};

describe('the table of proofs', () => {
  it.each([
    [true, 'yes'],
    [false, 'NO'],
    [undefined, '-'],
  ])('of a claim that holds: %s says %s', (holds, answer) => {
    const text = reportText([], [{ claim: 'claimed', holds, seen: 'seen', command: 'checked' }], summary);
    expect(text).toMatch(new RegExp(`claimed +${answer} +seen +checked`));
  });
});

it('names a claim that does not hold on stderr under --json', () => {
  const [out, told]: [string[], string[]] = [[], []];
  const view = jsonView(
    (text) => out.push(text),
    (text) => told.push(text),
  );
  const proofs = [true, false, undefined].map((holds) => ({ claim: `holds ${holds}`, holds, seen: 's', command: 'c' }));
  view.report([], proofs, summary);
  expect(told).toEqual(['not proved: holds false; s; see `c`\n']);
  expect(out).toEqual([`${JSON.stringify(summary)}\n`]);
});
