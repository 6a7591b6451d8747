const SIGNATURES: readonly (readonly [string, string])[] = [
  ['image/png', '89504e47'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
  ['image/bmp', '424d'],
  ['application/pdf', '25504446'],
  ['application/zip', '504b0304'],
  ['audio/mpeg', '494433'],
];

/** The media type that the first bytes show, undefined when they show none that is known here. */
export function sniffedMediaType(base64: string): string | undefined {
  const head = Buffer.from(base64.slice(0, 32), 'base64');
  const hex = head.toString('hex');
  if (hex.startsWith('52494646')) return head.toString('latin1', 8, 12) === 'WEBP' ? 'image/webp' : 'audio/wav';
  return SIGNATURES.find(([, signature]) => hex.startsWith(signature))?.[0];
}
