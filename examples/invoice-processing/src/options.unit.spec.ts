import { describe, expect, it } from 'vitest';
import { parseStartOptions } from './options.js';

const terminal = { stdinIsTerminal: true, stdoutIsTerminal: true, ci: false };
const pipe = { stdinIsTerminal: false, stdoutIsTerminal: true, ci: false };

describe('start options', () => {
  it('asks at a terminal and leaves approvals pending elsewhere, under --json and in CI', () => {
    expect(parseStartOptions([], terminal)).toMatchObject({ approver: 'ask', once: false, batch: undefined });
    expect(parseStartOptions([], pipe)).toMatchObject({ approver: 'none' });
    expect(parseStartOptions(['--json'], terminal)).toMatchObject({ approver: 'none', json: true });
    expect(parseStartOptions([], { ...terminal, ci: true })).toMatchObject({ approver: 'none' });
  });

  it('takes every option', () => {
    expect(
      parseStartOptions(
        ['--once', '--json', '--approver', 'demo', '--batch', 'b17', '--model', 'scripted/invoice'],
        pipe,
      ),
    ).toEqual({
      once: true,
      json: true,
      approver: 'demo',
      batch: 'b17',
      fresh: false,
      model: 'scripted/invoice',
    });
  });

  it.each([
    [['--aprover', 'demo'], 'aprover'],
    [['--approver', 'boss'], 'ask, demo or none'],
    [['--batch', '../x'], 'lower-case'],
    [['--approver', 'ask'], 'terminal'],
    [['inbox'], 'not understood'],
  ])('refuses %j with a message that says what is expected', (args, part) => {
    expect(() => parseStartOptions(args, pipe)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(part) }),
    );
  });
});
