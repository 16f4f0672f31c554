import type { z } from 'zod';
import { updatedIndexInput } from '../../model/payment-index.ts';
import { isStream } from '../allowed-methods.ts';
import { exampleUpdatedIndex } from '../examples.ts';
import { IDEMPOTENCY_KEY } from '../middleware/idempotency.ts';
import type { Route } from '../route.ts';
import { type Json, jsonSchema, type Schemas } from './json-schema.ts';

/** Returns the parameters of a route: those in the path, the query and the headers. */
export function parametersOf(route: Route, schemas: Schemas): readonly Json[] {
  return [
    ...pathParameters(route),
    ...(route.query ? queryParameters(route, route.query, schemas) : []),
    ...headerParameters(route, schemas),
  ];
}

function pathParameters({ path, pathParameters: described }: Route): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: described?.[name],
    schema: { type: 'string', minLength: 1 },
    example: 'satoshi',
  }));
}

function queryParameters(route: Route, query: z.ZodType, schemas: Schemas): Json[] {
  const { properties, required } = jsonSchema(query, 'query', schemas);
  const needed = new Set(required as string[] | undefined);
  return Object.entries(properties as Record<string, Json>).map(([name, property]) => {
    const { description, examples: _, ...schema } = property;
    const example = route.example.query?.[name];
    return {
      name,
      in: 'query',
      required: needed.has(name),
      description,
      schema,
      ...(example === undefined
        ? {}
        : { example: schema.type === 'integer' ? Number(example) : example }),
    };
  });
}

function headerParameters(route: Route, schemas: Schemas): Json[] {
  const headers: Json[] = [];
  if (route.takesKey) {
    headers.push({
      name: 'Idempotency-Key',
      ...(route.needsKey ? { required: true } : {}),
      description:
        'Names what you want done: a repeat with the same key gets the first outcome and does nothing again.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY.source },
    });
  }
  if (route.answersAccepted !== undefined) {
    headers.push({
      name: 'Prefer',
      description:
        route.answersAccepted === 'always'
          ? '`respond-async` answers 202 at once, `wait=N` after N seconds, with the pending payment (RFC 7240). Anything else is ignored.'
          : 'In a repeat of a request that is still running: `respond-async` answers 202 at once, `wait=N` after N seconds, with the pending payment (RFC 7240). Anything else is ignored.',
      schema: { type: 'string' },
      example: 'respond-async',
    });
  }
  // Clients of event streams send Last-Event-ID when they reconnect (WHATWG HTML, section 9.2).
  if (isStream(route)) {
    headers.push({
      name: 'Last-Event-ID',
      description: 'The id of the last event received: the stream goes on after it.',
      schema: jsonSchema(updatedIndexInput(), 'query', schemas),
      example: exampleUpdatedIndex,
    });
  }
  return headers.map(({ name, ...header }) => ({ name, in: 'header', required: false, ...header }));
}
