import type { Context } from 'hono';
import type { z } from 'zod';
import { ApiError } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';
import { type InputFields, type PresentInput, presentInput } from '../input/input-fields.ts';
import { issuesOf, issueWords } from '../input/words.ts';

/** The result of parsing an input, and the paths of the ignored fields. */
export type ReadInput = z.ZodSafeParseResult<unknown> & Pick<PresentInput, 'ignored'>;

/** Parses an input with its schema; `fields` are those that the schema knows. */
export function readInput(
  schema: z.ZodType,
  fields: InputFields | null,
  input: unknown,
): ReadInput {
  const { value, ignored } = presentInput(fields, input);
  return { ...parsed(schema, value), ignored };
}

/** Parses a value from which null and unknown fields have been removed. */
export function parsed(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  return schema.safeParse(value, { error: issueWords });
}

/** Returns the parsed value, or throws error 7 with every issue (docs/decisions.md 13). */
export function accept(input: z.ZodSafeParseResult<unknown>): unknown {
  if (input.success) return input.data;
  const issues = issuesOf(input.error.issues);
  const [first] = issues;
  const where = first?.path ? `${first.path}: ` : 'The body ';
  throw new ApiError('rejected', `${where}${first?.message}`, { data: { issues } });
}

/** Notes the ignored fields for the answer's header (docs/decisions.md 17). */
export function noteIgnored(
  context: Context<AppEnv>,
  { ignored }: Pick<PresentInput, 'ignored'>,
): void {
  if (ignored.length > 0) context.set('ignored', [...(context.get('ignored') ?? []), ...ignored]);
}
