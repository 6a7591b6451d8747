import { describe, expect, it } from 'vitest';
import { createLogger, type Logger } from './logger.js';

function capture(level = 'info'): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    service: 'orchestrator',
    level,
    stream: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  return { log, lines };
}

describe('createLogger', () => {
  it('writes JSON lines with level, time, service and message', () => {
    const { log, lines } = capture();
    log.info({ runId: 'run_1' }, 'started');
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        service: 'orchestrator',
        runId: 'run_1',
        msg: 'started',
      },
    ]);
  });

  it('replaces secrets at any depth and inside text', () => {
    const { log, lines } = capture();
    const jwt = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl';
    log.info(
      {
        request: { headers: { authorization: 'Bearer abcdefghij' } },
        url: 'postgres://ann:hunter2@db/x',
        note: `got ${jwt}`,
      },
      `sent Bearer abcdefghij`,
    );
    log.error(new Error('cannot connect to postgres://ann:hunter2@db/x'));
    const text = JSON.stringify(lines);
    expect(text).not.toMatch(/hunter2|abcdefghij|c2lnbmF0dXJl/);
    expect(text).toContain('postgres://ann:[redacted]@db/x');
  });

  it('writes an error with stack and cause, and a fatal value without harm', () => {
    const { log, lines } = capture();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    log.error({ err: new TypeError('bad', { cause: new Error('why') }), cycle, big: 1n }, 'failed');
    expect(lines[0]).toMatchObject({
      err: { type: 'TypeError', stack: expect.stringContaining('TypeError: bad'), cause: { message: 'why' } },
      cycle: { self: '[cycle]' },
      big: '1',
    });
  });

  it('keeps its line whole when a secret is replaced in quoted text', () => {
    const { log, lines } = capture();
    log.info({ body: '{"url":"http://u:p@h/","next":"x@y"}' }, 'http://a:"b@c');
    expect(lines).toHaveLength(1);
  });

  it('obeys the level and refuses an unknown one', () => {
    const { log, lines } = capture('warn');
    log.info('no');
    expect(lines).toEqual([]);
    expect(() => createLogger({ service: 'x', level: 'loud' })).toThrow(
      'LOG_LEVEL: the level is not known; seen `loud`',
    );
  });

  it('has children with their own fields', () => {
    const { log, lines } = capture();
    log.child({ shard: 3, password: 'hunter2' }).info('x');
    expect(lines[0]).toMatchObject({ shard: 3, service: 'orchestrator' });
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });
});
