import { sqlState } from '../../lib/databases/postgres-failure.ts';

/** A statement before it in its transaction has failed. */
const AFTER_FAILURE = '25P02';

/**
 * Waits for all of these, and then returns what each resolved to, or throws the error of the one that failed first: of
 * statements of a transaction the one that made it fail, which may be told last, as its own task may have others.
 * Unlike `Promise.all` it leaves nothing running behind an error. Statements of a database may be sent in another order
 * than they stand in, so none may need that another was made.
 */
export async function together<const T extends readonly unknown[]>(
  tasks: T,
): Promise<{ -readonly [At in keyof T]: Awaited<T[At]> }> {
  const errors: unknown[] = [];
  const results = await Promise.all(
    tasks.map((task) => Promise.resolve(task).catch((error: unknown) => void errors.push(error))),
  );
  if (errors.length > 0) {
    throw errors.find((error) => sqlState(error) !== AFTER_FAILURE) ?? errors[0];
  }
  return results as { -readonly [At in keyof T]: Awaited<T[At]> };
}

/** Statements of a transaction that are sent without waiting for their answers, which are looked at later. */
export interface Sending {
  readonly send: (statement: Promise<unknown>) => void;
  /** Waits until all that was sent is answered, and for `others`. Throws as {@link together} does. */
  readonly answered: (...others: readonly Promise<unknown>[]) => Promise<void>;
}

/** Returns a new list of statements that are sent. */
export function sending(): Sending {
  const sent: Promise<unknown>[] = [];
  return {
    send(statement) {
      statement.catch(() => undefined);
      sent.push(statement);
    },
    async answered(...others) {
      await together([...sent, ...others]);
    },
  };
}
