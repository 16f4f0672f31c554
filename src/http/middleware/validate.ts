import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import type { z } from 'zod';
import { ApiError, type Issue } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';

/** Checks and parses the query parameters. Unknown ones are ignored (decisions section 3). */
export function parseQuery(schema: z.ZodType, query: Readonly<Record<string, string>>): unknown {
  return accept(schema.safeParse(query));
}

/**
 * Checks and parses the JSON body; an empty one counts as `{}`. Another content type is error 7 with status 415
 * (decisions sections 2 and 3).
 */
export function validateBody(schema: z.ZodType): MiddlewareHandler<AppEnv> {
  const json = zValidator('json', schema, (result, context: Context<AppEnv>) => {
    context.set('body', accept(result));
  }) as MiddlewareHandler<AppEnv>;
  return async (context, next) => {
    const text = await context.req.text();
    context.get('bodyRead')?.();
    if (text === '') {
      const parsed = schema.safeParse({});
      context.set('body', accept(parsed));
      return next();
    }
    if (!isJson(context.req.header('content-type'))) {
      throw new ApiError('rejected', 'The body must be JSON: send content-type application/json.', {
        httpStatus: 415,
      });
    }
    return json(context, next);
  };
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType.trim());
}

function accept(
  result: { success: true; data: unknown } | { success: false; error: z.core.$ZodError },
): unknown {
  if (result.success) return result.data;
  const issues: Issue[] = result.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const [first] = issues;
  const where = first?.path ? `${first.path}: ` : '';
  throw new ApiError('rejected', `${where}${first?.message ?? 'The request is not valid.'}`, {
    data: { issues },
  });
}
