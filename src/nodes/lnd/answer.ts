import type { z } from 'zod';
import { unreadable } from './broken.ts';

/** Reads JSON of LND. Throws `unreadable`; `changes` says whether the request may have changed something. */
export function parseJson(text: string, changes: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(error, changes);
  }
}

/** Reads a part of LND's answer by its shape. Throws as {@link parseJson} does. */
export function readAs<T>(shape: z.ZodType<T>, value: unknown, changes = false): T {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw unreadable(result.error, changes);
}
