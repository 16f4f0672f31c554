import type { Context } from 'hono';
import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { rejected } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';
import { type InputFields, inputFields, presentInput } from '../input/input-fields.ts';
import type { Route } from '../route.ts';
import { accept, noteIgnored, parsed } from './validate.ts';

/**
 * Reads the query of a request: notes ignored parameters for the answer's header, and returns a function that checks
 * and parses the others. That function returns undefined for a route without parameters. An unknown parameter is error
 * 7 where an unknown field of the body is (docs/decisions.md 18), otherwise it is ignored.
 */
type ReadQuery = (context: Context<AppEnv>) => () => unknown;

const NOTHING = () => undefined;

/** Returns the function that reads the query of a route with these schemas. */
export function queryReader(route: Pick<Route, 'query' | 'body'>): ReadQuery {
  // Most routes are never called in a process, so the schemas are looked into at the first call.
  const known = once(() => knownQuery(route));
  return (context) => {
    const { fields, schema } = known();
    const { url } = context.req;
    if (schema === null && !url.includes('?')) return NOTHING;
    const parameters = queryParameters(url);
    const values = Object.fromEntries(parameters);
    const input = presentInput(fields, values);
    noteIgnored(context, input);
    return () => {
      if (parameters.size > Object.keys(values).length) rejectTwice(parameters);
      if (schema === null) return undefined;
      const value = accept(parsed(schema, input.value));
      return route.query ? value : undefined;
    };
  };
}

interface KnownQuery {
  readonly fields: InputFields;
  /** Null where nothing of the query is checked. */
  readonly schema: z.ZodType | null;
}

function knownQuery({ query, body }: Pick<Route, 'query' | 'body'>): KnownQuery {
  const known = (query && inputFields(query)?.known) ?? new Map();
  const fields = { known, strict: (body && inputFields(body)?.strict) ?? false };
  return { fields, schema: query ?? (fields.strict ? z.strictObject({}) : null) };
}

/** Returns the query parameters of a request's URL. */
function queryParameters(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}

/** Throws error 7 for the parameter that is given twice: which one is meant cannot be known (docs/decisions.md 19). */
function rejectTwice(parameters: URLSearchParams): never {
  const counts = new Map<string, number>();
  for (const name of parameters.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [twice = ''] = [...counts].find(([, count]) => count > 1) ?? [];
  throw rejected(twice, 'appears twice in the query: give it once');
}
