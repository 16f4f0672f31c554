import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import { ApiError, rejected } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';
import { hasExactNumbers } from '../input/exact-numbers.ts';
import {
  type InputFields,
  inputFields,
  type PresentInput,
  presentInput,
} from '../input/input-fields.ts';
import { jsonProblem } from '../input/json-problem.ts';
import { queryParameters, requireOnce } from '../input/query-input.ts';
import { issuesOf, issueWords } from '../input/words.ts';
import type { Route } from '../route.ts';

/** The result of parsing an input, and the paths of the ignored fields. */
type ReadInput = z.ZodSafeParseResult<unknown> & Pick<PresentInput, 'ignored'>;

/** Reads the query parameters of a route's requests. */
export interface QueryReader {
  /**
   * Checks and parses the parameters; undefined for a route that has none. An unknown one is error 7 where an unknown
   * field of the body is (docs/decisions.md 18), otherwise it is ignored.
   */
  read(context: Context<AppEnv>): unknown;
  /** Notes the ignored parameters for the answer's header; throws nothing. */
  noteIgnored(context: Context<AppEnv>): void;
}

/** The query reader of a route with these schemas. */
export function queryReader({ query, body }: Pick<Route, 'query' | 'body'>): QueryReader {
  const known = (query && inputFields(query)?.known) ?? new Map();
  const fields: InputFields = { known, strict: (body && inputFields(body)?.strict) ?? false };
  const schema = query ?? (fields.strict ? z.strictObject({}) : null);
  return {
    read(context) {
      const { url } = context.req;
      if (schema === null && !url.includes('?')) return undefined;
      const parameters = queryParameters(url);
      requireOnce(parameters);
      if (schema === null) return undefined;
      const input = readInput(schema, fields, Object.fromEntries(parameters));
      return query ? accept(input) : void accept(input);
    },
    noteIgnored(context) {
      const parameters = queryParameters(context.req.url);
      noteIgnored(context, presentInput(fields, Object.fromEntries(parameters)));
    },
  };
}

/**
 * Returns middleware that checks and parses the JSON body. An empty body counts as `{}`. Another content type is error
 * 7 with status 415 (docs/decisions.md 16).
 */
export function validateBody(schema: z.ZodType): MiddlewareHandler<AppEnv> {
  const fields = inputFields(schema);
  const validate = (_schema: z.ZodType, value: unknown) => readInput(schema, fields, value);
  const acceptBody = (result: unknown, context: Context<AppEnv>) => {
    const input = result as ReadInput;
    noteIgnored(context, input);
    context.set('body', accept(input));
  };
  const json = zValidator('json', schema, acceptBody, {
    validationFunction: validate,
  }) as MiddlewareHandler<AppEnv>;
  return async (context, next) => {
    const bytes = await context.req.arrayBuffer();
    context.get('bodyRead')?.();
    if (bytes.byteLength === 0) {
      acceptBody(validate(schema, {}), context);
      return next();
    }
    requireJson(context);
    const text = textOf(bytes);
    if (!hasExactNumbers(text)) {
      throw rejected(
        '',
        'The body holds a number with too many digits: write an amount as a string.',
      );
    }
    try {
      return await json(context, next);
    } catch (error) {
      throw error instanceof HTTPException ? rejected('', jsonProblem(text)) : error;
    }
  };
}

/** Throws error 7 with status 415 unless the body is said to be JSON in UTF-8, and not compressed. */
function requireJson({ req }: Context<AppEnv>): void {
  const [type = '', ...parameters] = (req.header('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((one) => /^\s*charset="?([^"]*)"?\s*$/.exec(one)?.[1])
    .find(Boolean);
  if (type.trim() !== 'application/json' || (charset !== undefined && charset !== 'utf-8')) {
    throw unsupportedMedia('The body must be JSON: send content-type application/json.');
  }
  const encoding = req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw unsupportedMedia('The body must not be compressed: leave content-encoding out.');
  }
}

function unsupportedMedia(message: string): ApiError {
  return new ApiError('rejected', message, { httpStatus: 415 });
}

function textOf(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw rejected('', 'The body is not valid UTF-8 text: JSON is written in UTF-8.');
  }
}

function readInput(schema: z.ZodType, fields: InputFields | null, input: unknown): ReadInput {
  const { value, ignored } = presentInput(fields, input);
  return { ...schema.safeParse(value, { error: issueWords }), ignored };
}

function accept(input: ReadInput): unknown {
  if (input.success) return input.data;
  const issues = issuesOf(input.error.issues);
  const [first] = issues;
  const where = first?.path ? `${first.path}: ` : 'The body ';
  throw new ApiError('rejected', `${where}${first?.message}`, { data: { issues } });
}

function noteIgnored(context: Context<AppEnv>, { ignored }: Pick<PresentInput, 'ignored'>): void {
  if (ignored.length > 0) context.set('ignored', [...(context.get('ignored') ?? []), ...ignored]);
}
