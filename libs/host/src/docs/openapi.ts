import { z } from 'zod';
import type { DescribedRoute, RouteInput } from './described-routes.js';

type Json = Readonly<Record<string, unknown>>;

export interface OpenApiDocument extends Json {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Json>>;
}

const PROBLEM: Json = {
  description: 'a problem: what failed, where, seen, expected, next step, trace id',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

const PROBLEM_SCHEMA = z.toJSONSchema(
  z.looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    where: z.unknown().optional(),
    seen: z.unknown().optional(),
    expected: z.unknown().optional(),
    next: z.unknown().optional(),
    traceId: z.string(),
  }),
);

/** OpenAPI 3.1 document of a service, generated from its routes and their schemas. */
export function openApiDocument(title: string, version: string, routes: readonly DescribedRoute[]): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: `Lineclear ${title}`, version },
    paths,
    components: {
      schemas: { Problem: PROBLEM_SCHEMA },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

function operation(route: DescribedRoute): Json {
  const parameters = route.inputs.filter(({ place }) => place !== 'body').flatMap(parametersOf);
  const body = route.inputs.find(({ place }) => place === 'body');
  const roles = route.roles.length === 0 ? '' : ` Needs the role ${route.roles.join(' or ')}.`;
  return {
    summary: `${route.description?.summary ?? ''}${roles}`.trim(),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: jsonContent(body.schema) } }),
    responses: {
      '2XX': { description: 'done', content: jsonContent(route.description?.answer) },
      default: PROBLEM,
    },
    security: route.isPublic ? [] : [{ bearer: [] }],
  };
}

function parametersOf({ place, name, schema }: RouteInput): Json[] {
  if (name !== undefined) return [{ name, in: place, required: place === 'path', schema: jsonSchema(schema) }];
  const { properties, required } = jsonSchema(schema) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties ?? {}).map(([property, propertySchema]) => ({
    name: property,
    in: place,
    required: place === 'path' || (required ?? []).includes(property),
    schema: propertySchema,
  }));
}

const jsonContent = (schema: z.ZodType | undefined): Json => ({ 'application/json': { schema: jsonSchema(schema) } });

const jsonSchema = (schema: z.ZodType | undefined): Json => {
  if (schema === undefined) return {};
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
};
