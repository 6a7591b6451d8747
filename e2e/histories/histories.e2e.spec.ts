import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventNameOf } from '@lineclear/contracts';
import { type ArchivedEvent, replay } from '@lineclear/run';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../src/root.js';

const FOLDER = join(ROOT, 'e2e/histories');
const files = globSync('*/*.jsonl', { cwd: FOLDER }).sort();

function history(file: string): { runId: string; events: ArchivedEvent[] } {
  const lines = readFileSync(join(FOLDER, file), 'utf8').trim().split('\n');
  const all = lines.map((line) => JSON.parse(line) as Record<string, unknown> & { type: string; subject: string });
  const events = all.flatMap((event) => {
    const name = eventNameOf(event.type);
    return name === undefined
      ? []
      : [
          {
            id: String(event['id']),
            source: String(event['source']),
            name,
            time: String(event['time']),
            data: event['data'],
          },
        ];
  });
  return { runId: all[0]?.subject ?? '', events };
}

describe('recorded histories', () => {
  it('are there for this release', () => {
    expect(files.length).toBeGreaterThanOrEqual(25);
  });

  it.each(files)('%s replays identically', (file) => {
    const { runId, events } = history(file);
    expect(replay(runId, events)).toMatchObject({ identical: true, firstDifference: null });
  });

  it('names the first difference when a recorded reply was changed (S36)', () => {
    const { runId, events } = history(files[0] ?? '');
    const index = events.findIndex(({ name }) => name === 'model-call.completed');
    const changed = structuredClone(events);
    const data = changed[index]?.data as { costMicros: number };
    data.costMicros += 1;
    const verdict = replay(runId, changed);
    expect(verdict.identical).toBe(false);
    expect(verdict.firstDifference).toMatchObject({
      event: 'model-call.completed',
      path: expect.stringContaining('costMicros'),
    });
  });
});
