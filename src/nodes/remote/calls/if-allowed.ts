import { isApiError } from '../../../model/errors.ts';

/** What the read yields, as far as the token may read it. */
export async function* asAllowed<T>(read: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* read;
  } catch (error) {
    if (!isApiError(error, 'forbidden')) throw error;
  }
}

/** The result of the read, or null when the token may not read it. */
export async function ifAllowed<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (isApiError(error, 'forbidden')) return null;
    throw error;
  }
}
