import { z } from 'zod';

/** The verified identity a run acts for. Comes from a verified token or from `producers.yaml`, never from text in a payload. */
export const principalSchema = z.strictObject({
  tenant: z.string().min(1),
  subject: z.string().min(1),
  roles: z.array(z.string().min(1)),
  scopes: z.array(z.string().min(1)),
});

export type Principal = z.infer<typeof principalSchema>;
