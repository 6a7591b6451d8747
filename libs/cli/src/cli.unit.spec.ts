import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCli, VERBS } from './cli.js';

async function run(...args: string[]) {
  const text = { stdout: '', stderr: '' };
  const into = (name: keyof typeof text) =>
    new Writable({
      write(chunk: Buffer, _, done) {
        text[name] += chunk.toString('utf8');
        done();
      },
    });
  const code = await runCli(args, {
    environment: { LINECLEAR_URL: 'http://127.0.0.1:9', LINECLEAR_TOKEN: 'x', LINECLEAR_HOME: '/nowhere' },
    stdout: into('stdout'),
    stderr: into('stderr'),
    signal: new AbortController().signal,
  });
  return { code, ...text };
}

describe('the command line', () => {
  it('has the verbs that are public', () => {
    expect(VERBS.map(({ name }) => name)).toMatchInlineSnapshot(`
      [
        "run",
        "runs list",
        "runs show",
        "runs watch",
        "runs cancel",
        "runs budget",
        "approvals list",
        "approvals show",
        "approvals approve",
        "approvals edit",
        "approvals deny",
        "tools list",
        "tools show",
        "tools disable",
        "tools enable",
        "calls unknown",
        "calls resolve",
        "policy check",
        "replay",
        "audit verify",
        "parked list",
        "parked show",
        "parked redrive",
        "parked drop",
        "events tail",
        "events publish",
        "token",
        "doctor",
      ]
    `);
  });

  it('shows help on request, and the help of one verb', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await run('runs', 'cancel', '--help');
    expect(stdout).toContain('runs cancel RUN [--reason TEXT]');
    expect(stdout).not.toContain('approvals');
  });

  it.each([
    [['runs', 'lst'], 'expected one of `runs list`'],
    [['fly'], '`fly` is not a verb'],
    [['runs', 'show'], '`RUN` is missing'],
    [['runs', 'list', '--stat', 'x'], 'usage: lineclear runs list'],
    [['tools', 'disable', 'erp.x'], '`--reason` is missing'],
    [['approvals', 'edit', 'apr_1', '--arguments', '/nowhere/a.json'], 'cannot be read'],
    [['calls', 'resolve', 'c', '--outcome', 'maybe', '--reason', 'r'], 'expected happened or not-happened'],
  ])('exits 2 for %j and says what is expected', async (args, part) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(part);
  });

  it('exits 3 when nothing answers, in words and as JSON', async () => {
    expect(await run('runs', 'list')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is the platform running there?'),
    });
    const { stderr } = await run('runs', 'list', '--json');
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'unavailable', retryable: true } });
  });
});
