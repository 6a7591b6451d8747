import { SetMetadata } from '@nestjs/common';
import type { z } from 'zod';

export interface RouteDescription {
  /** one sentence for /docs */
  readonly summary: string;
  /** schema of the answer; left out: any JSON */
  readonly answer?: z.ZodType;
}

/** CAUTION: read by the generated documentation. */
export const DESCRIPTION = Symbol('lineclear:description');

/** Documents a route at /docs; request schemas come from `@Body`, `@Query` and `@Param` themselves. */
export const Describe = (description: RouteDescription): MethodDecorator => SetMetadata(DESCRIPTION, description);
