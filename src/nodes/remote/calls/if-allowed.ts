import { isApiError } from '../../../model/errors.ts';

/** The result of the read, or null when the token may not read it. */
export async function ifAllowed<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (isApiError(error, 'forbidden')) return null;
    throw error;
  }
}
