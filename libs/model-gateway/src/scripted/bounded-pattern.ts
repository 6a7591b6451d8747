import { RE2JS } from 're2js';

const MAX_PATTERN_CHARS = 500;
const MAX_TEXT_CHARS = 20_000;
const SLASHED = /^\/(.*)\/([a-z]*)$/s;
const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

export type TextTest = (text: string) => boolean;

/**
 * A test for text written as `/pattern/flags`; undefined when the text is not of that form. Runs in linear time (RE2) on at most the first 20,000
 * characters, since the tested text may come from anyone. Throws Error with a readable reason for a pattern that cannot be used.
 */
export function boundedPattern(text: string): TextTest | undefined {
  const match = SLASHED.exec(text);
  if (!match) return undefined;
  const [, source = '', letters = ''] = match;
  if (source.length > MAX_PATTERN_CHARS) throw new Error(`the pattern is longer than ${MAX_PATTERN_CHARS} characters`);
  let flags = 0;
  for (const letter of letters) {
    const flag = FLAGS[letter];
    if (flag === undefined) throw new Error(`flag \`${letter}\` is not one of i, m, s`);
    flags |= flag;
  }
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source), flags);
  return (tested) => pattern.matcher(tested.slice(0, MAX_TEXT_CHARS)).find();
}
