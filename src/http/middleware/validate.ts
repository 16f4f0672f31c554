import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { z } from 'zod';
import { ApiError, rejected } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';
import {
  type InputFields,
  inputFields,
  type PresentInput,
  presentInput,
} from '../input/input-fields.ts';
import { jsonProblem } from '../input/json-problem.ts';
import { queryInput } from '../input/query-input.ts';
import { issuesOf, issueWords } from '../input/words.ts';

/** A parsed input, and the paths of what was ignored in it. */
type ReadInput = z.ZodSafeParseResult<unknown> & Pick<PresentInput, 'ignored'>;

const NO_FIELDS: InputFields = { known: new Map(), strict: false };

/**
 * Returns what checks and parses the query parameters of a route's requests; undefined comes of a route that has none.
 * Unknown ones are ignored, and named in the answer (decisions section 3).
 */
export function validateQuery(schema: z.ZodType | null): (context: Context<AppEnv>) => unknown {
  const fields = (schema && inputFields(schema)) ?? NO_FIELDS;
  return (context) => {
    const { url } = context.req;
    if (schema) return accept(context, readInput(schema, fields, queryInput(url, fields)));
    noteIgnored(context, presentInput(fields, queryInput(url, fields)));
    return undefined;
  };
}

/**
 * Checks and parses the JSON body; an empty one counts as `{}`. Another content type is error 7 with status 415
 * (decisions sections 2 and 3).
 */
export function validateBody(schema: z.ZodType): MiddlewareHandler<AppEnv> {
  const fields = inputFields(schema);
  const validate = (_schema: z.ZodType, value: unknown) => readInput(schema, fields, value);
  const acceptBody = (result: unknown, context: Context<AppEnv>) => {
    context.set('body', accept(context, result as ReadInput));
  };
  const json = zValidator('json', schema, acceptBody, {
    validationFunction: validate,
  }) as MiddlewareHandler<AppEnv>;
  return async (context, next) => {
    const text = await context.req.text();
    context.get('bodyRead')?.();
    if (text === '') {
      acceptBody(validate(schema, {}), context);
      return next();
    }
    if (!isJson(context.req.header('content-type'))) {
      throw new ApiError('rejected', 'The body must be JSON: send content-type application/json.', {
        httpStatus: 415,
      });
    }
    try {
      return await json(context, next);
    } catch (error) {
      throw error instanceof HTTPException ? rejected('', jsonProblem(text)) : error;
    }
  };
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType.trim());
}

function readInput(schema: z.ZodType, fields: InputFields | null, input: unknown): ReadInput {
  const { value, ignored } = presentInput(fields, input);
  return { ...schema.safeParse(value, { error: issueWords }), ignored };
}

function accept(context: Context<AppEnv>, input: ReadInput): unknown {
  noteIgnored(context, input);
  if (input.success) return input.data;
  const issues = issuesOf(input.error.issues);
  const [first] = issues;
  const where = first?.path ? `${first.path}: ` : 'The body ';
  throw new ApiError('rejected', `${where}${first?.message}`, { data: { issues } });
}

function noteIgnored(context: Context<AppEnv>, { ignored }: Pick<PresentInput, 'ignored'>): void {
  if (ignored.length > 0) context.set('ignored', [...(context.get('ignored') ?? []), ...ignored]);
}
