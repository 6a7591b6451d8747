import { z } from 'zod';

/** Ordered from open to closed: joining two labels takes the later one. CAUTION: wire values. */
export const CONFIDENTIALITY_LEVELS = ['public', 'internal', 'restricted'] as const;
/** Ordered from trusted to untrusted: joining two labels takes the later one. CAUTION: wire values. */
export const INTEGRITY_LEVELS = ['trusted', 'untrusted'] as const;

/** Confidentiality and integrity of a value. Rules of joining live in `@lineclear/labels`. */
export const labelSchema = z.strictObject({
  confidentiality: z.enum(CONFIDENTIALITY_LEVELS),
  integrity: z.enum(INTEGRITY_LEVELS),
});

export type Label = z.infer<typeof labelSchema>;
