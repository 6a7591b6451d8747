import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppendLog } from './index.js';

describe('append log', () => {
  it('keeps every older view as it was, also when two futures branch from it', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.array(fc.nat(), { maxLength: 3 })), { maxLength: 30 }), (steps) => {
        const views = [AppendLog.of<number>([])];
        const expected: number[][] = [[]];
        for (const [from, added] of steps) {
          const base = from % views.length;
          const view = views[base];
          if (view === undefined) continue;
          views.push(view.append(...added));
          expected.push([...(expected[base] ?? []), ...added]);
        }
        expect(views.map((view) => view.toArray())).toEqual(expected);
        expect(views.map((view) => view.at(-1))).toEqual(expected.map((items) => items.at(-1)));
      }),
    );
  });

  it('appends in place, so that a long run copies nothing', () => {
    let log = AppendLog.of<number>([]);
    const started = process.cpuUsage();
    for (let i = 0; i < 200_000; i++) log = log.append(i);
    expect(log.length).toBe(200_000);
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });
});
