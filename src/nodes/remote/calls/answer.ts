import type { z } from 'zod';
import { unreadable } from './broken.ts';

/** Reads JSON of a node that people call `title`. Throws `unreadable`; `changes`: whether it may have acted. */
export function parseJson(title: string, text: string, changes: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(title, error, changes);
  }
}

/** Reads a part of a node's answer by its shape. Throws as {@link parseJson} does. */
export function readAs<T>(title: string, shape: z.ZodType<T>, value: unknown, changes = false): T {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw unreadable(title, result.error, changes);
}
