/** A value of a statement, in SQLite's form. */
export type Value = string | number | bigint | boolean | Uint8Array | null;

/** A statement that an engine sends, and whose answer it waits for. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (Value | readonly string[])[];
}

/** What work on rows is stopped for. */
export type Step =
  | Statement
  | { readonly together: readonly Task[] }
  | { readonly send: Steps<unknown> };

/**
 * Work on rows that both engines do. SQLite does all of it at once; PostgreSQL waits at each step. Nothing is done
 * before it is iterated: by `yield*`, {@link together}, {@link send}, or the engine.
 */
export interface Steps<T> extends Iterable<Step, T, unknown> {}

/** Work whose result is there already. */
export function done<T>(value: T): Steps<T> {
  return { [Symbol.iterator]: () => ({ next: () => ({ done: true, value }) }) };
}

/** Work that may be left out: null or false is returned as it is. */
type Task = Steps<unknown> | null | false;

type Result<T> = T extends Steps<infer R> ? R : T;

/**
 * Does all of these and returns their results. PostgreSQL does not wait for one before it begins the next, so none may
 * need that another was done. The error is that of the one that failed first.
 */
export function* together<const T extends readonly Task[]>(
  tasks: T,
): Steps<{ -readonly [At in keyof T]: Result<T[At]> }> {
  return (yield { together: tasks }) as { -readonly [At in keyof T]: Result<T[At]> };
}

/** Does work whose result nothing needs. PostgreSQL waits for it before the commit. */
export function* send(work: Steps<unknown>): Steps<void> {
  yield { send: work };
}
