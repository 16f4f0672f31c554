import { z } from 'zod';
import { foreignText } from './foreign-text.ts';
import { serviceFailed, serviceRefusal } from './service-error.ts';

const MAX_REASON_CHARACTERS = 200;

const refusal = z.object({ status: z.literal('ERROR'), reason: z.unknown().optional() });

/** Throws the service's own refusal when the reply is one (LUD-01): error 113 with its reason. */
export function throwRefusal(reply: unknown): void {
  const { success, data } = refusal.safeParse(reply);
  if (!success) return;
  throw serviceRefusal(foreignText(data.reason, { maxCharacters: MAX_REASON_CHARACTERS }));
}

/** A reply of the expected shape; error 113 names the first field that is not. `at` names the reply itself. */
export function readReply<T>(schema: z.ZodType<T>, reply: unknown, at = ''): T {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const field = at || parsed.error.issues[0]?.path.join('.');
  throw serviceFailed(
    'unusable_answer',
    `The LNURL service answered something unreadable${field && ` (${field})`}.`,
  );
}
