/** Only a token of 16 characters or more, or one with an exponent, can lose digits in a double. */
const MAY_LOSE = /\d[\d.]{15,}|\d[eE]/;

/**
 * The first number in JSON text that a double cannot hold exactly, as written; undefined when all can. `text` must be valid JSON.
 * `1.10` and `1e21` are exact (the double prints back as the same decimal value), `9007199254740993` and `1e400` are not.
 */
export function findLossyNumber(text: string): string | undefined {
  if (!MAY_LOSE.test(text)) return undefined;
  let found: string | undefined;
  JSON.parse(text, (_key: string, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value !== 'number' || found !== undefined) return value;
    const source = context?.source;
    if (source !== undefined && !isExact(source, value)) found = source;
    return value;
  });
  return found;
}

function isExact(source: string, value: number): boolean {
  return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}

/** Normal form `digits e exponent` of a decimal literal, without sign: zeros at both ends of the digits moved into the exponent. */
function decimalOf(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + (digits.length - significant.length)}`;
}
