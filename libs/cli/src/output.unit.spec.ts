import { describe, expect, it } from 'vitest';
import { table, visible } from './output.js';

describe('table', () => {
  it('aligns columns and shows missing values', () => {
    expect(
      table(
        [
          { a: 'x', b: [1] },
          { a: 'long', b: null },
        ],
        ['a', 'b'],
      ),
    ).toEqual(['A     B', 'x     [1]', 'long  -']);
  });

  it('sends no control character of a tool or model to the terminal', () => {
    expect(table([{ a: '\u001b[2Jhello\u202e' }], ['a'])[1]).toBe('\\u001b[2Jhello\\u202e');
    expect(visible('a\nb')).toBe('a\\u000ab');
  });
});
