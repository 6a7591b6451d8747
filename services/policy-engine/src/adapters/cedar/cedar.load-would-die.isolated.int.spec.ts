import { startTypeScript } from '@lineclear/test-kit';
import { describe, expect, it } from 'vitest';

const UNDER_LOAD = new URL('./victims/cedar-under-load.ts', import.meta.url);
/** What V8 prints of the frame that it cannot rebuild safely. */
const INLINED_CALL = /JS to Wasm builtin continuation/;

/** Runs the load to its end; tells how often V8 had inlined the call into Cedar when it threw code away. */
async function run(
  seconds: number,
  ...flags: string[]
): Promise<{ survived: number; deopts: number; inlined: number }> {
  const load = startTypeScript(UNDER_LOAD, [String(seconds), ...flags]);
  let [deopts, inlined] = [0, 0];
  try {
    for (;;) {
      const line = await load.nextLine();
      const [, survived] = /^survived (\d+)$/.exec(line) ?? [];
      if (survived !== undefined) return { survived: Number(survived), deopts, inlined };
      if (INLINED_CALL.test(line)) inlined += 1;
      if (/bailout \(kind: deopt-lazy/.test(line)) deopts += 1;
    }
  } finally {
    await load.kill();
  }
}

describe('evaluation under load', () => {
  it('survives in a process of its own, since V8 never inlines the call into Cedar', async () => {
    const { survived, deopts, inlined } = await run(4);
    expect(survived).toBeGreaterThan(500);
    expect(deopts).toBeGreaterThanOrEqual(4);
    expect(inlined).toBe(0);
  });

  it('would rest on luck without the flag: then V8 inlines it, or the process is dead', async () => {
    const seen = await run(1, '--without-flag').catch((error: unknown) => error);
    expect(seen instanceof Error || (seen as { inlined: number }).inlined > 0).toBe(true);
  });
});
