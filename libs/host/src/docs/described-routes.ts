import { RequestMethod, type Type } from '@nestjs/common';
import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { z } from 'zod';
import { ACCESS_METADATA } from '../http/principal.js';
import { DESCRIPTION, type RouteDescription } from './describe.js';

export interface RouteInput {
  readonly place: 'body' | 'query' | 'path';
  /** undefined: the whole body or query */
  readonly name: string | undefined;
  readonly schema: z.ZodType | undefined;
}

export interface DescribedRoute {
  readonly method: string;
  /** with `:name` for parameters */
  readonly path: string;
  readonly isPublic: boolean;
  readonly roles: readonly string[];
  readonly inputs: readonly RouteInput[];
  readonly description: RouteDescription | undefined;
}

/** CAUTION: names and numbers of Nest's route metadata; a test reads a real controller through them. */
const NEST = { path: 'path', method: 'method', inputs: '__routeArguments__', body: 3, query: 4, param: 5 } as const;
const PLACES: Readonly<Record<string, RouteInput['place']>> = {
  [NEST.body]: 'body',
  [NEST.query]: 'query',
  [NEST.param]: 'path',
};

/** Every HTTP route of an application, read from its controllers. */
export function describedRoutes(discovery: DiscoveryService): DescribedRoute[] {
  return discovery.getControllers().flatMap(({ metatype }) => (isType(metatype) ? routesOf(metatype) : []));
}

function routesOf(controller: Type): DescribedRoute[] {
  const prototype: Record<string, unknown> = controller.prototype;
  const prefixes = listOf(Reflect.getMetadata(NEST.path, controller));
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    const method: unknown = typeof handler === 'function' ? Reflect.getMetadata(NEST.method, handler) : undefined;
    if (typeof handler !== 'function' || typeof method !== 'number') return [];
    const read = <T>(key: string | symbol): T | undefined =>
      (Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller)) as T | undefined;
    return prefixes.flatMap((prefix) =>
      listOf(Reflect.getMetadata(NEST.path, handler)).map((path) => ({
        method: RequestMethod[method] ?? 'GET',
        path: join(prefix, path),
        isPublic: read<boolean>(ACCESS_METADATA.public) ?? false,
        roles: read<string[]>(ACCESS_METADATA.roles) ?? [],
        inputs: inputsOf(controller, name),
        description: Reflect.getMetadata(DESCRIPTION, handler) as RouteDescription | undefined,
      })),
    );
  });
}

function inputsOf(controller: Type, method: string): RouteInput[] {
  const recorded = (Reflect.getMetadata(NEST.inputs, controller, method) ?? {}) as Record<string, RecordedInput>;
  return Object.entries(recorded).flatMap(([key, { data, schema }]) => {
    const place = PLACES[key.split(':')[0] ?? ''];
    return place === undefined
      ? []
      : [
          {
            place,
            name: typeof data === 'string' ? data : undefined,
            schema: schema instanceof z.ZodType ? schema : undefined,
          },
        ];
  });
}

interface RecordedInput {
  readonly data?: unknown;
  readonly schema?: unknown;
}

const isType = (value: unknown): value is Type => typeof value === 'function';
const listOf = (value: unknown): string[] => (Array.isArray(value) ? value : [value ?? '']).map(String);
const join = (...parts: string[]): string =>
  `/${parts
    .map((part) => part.replace(/^\/+|\/+$/g, ''))
    .filter(Boolean)
    .join('/')}`;
