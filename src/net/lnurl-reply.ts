import { z } from 'zod';
import { once } from '../lib/once.ts';
import { foreignText } from './foreign-text.ts';
import { serviceFailed, serviceRefusal } from './service-error.ts';

const MAX_REASON_CHARACTERS = 200;

const refusal = once(() =>
  z.object({ status: z.literal('ERROR'), reason: z.unknown().optional() }),
);

/** Throws error 113 with the service's reason when the reply says that the service refuses (LUD-01). */
export function throwRefusal(reply: unknown): void {
  const { success, data } = refusal().safeParse(reply);
  if (!success) return;
  throw serviceRefusal(foreignText(data.reason, { maxCharacters: MAX_REASON_CHARACTERS }));
}

/** Checks the shape of a reply. Throws error 113 that names the first wrong field, or `at`. */
export function readReply<T>(schema: z.ZodType<T>, reply: unknown, at = ''): T {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const field = at || parsed.error.issues[0]?.path.join('.');
  throw serviceFailed(
    'unusable_answer',
    `The LNURL service answered something unreadable${field && ` (${field})`}.`,
  );
}
