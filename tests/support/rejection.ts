/*
 * What promises are rejected with. Bun's own `expect(promise).rejects` runs the event loop inside the event that the
 * test was called by, and forgets the others of that turn: a pipe that had something to read is then never read again,
 * and the program at its other end waits for ever.
 */

/** Returns what the promise is rejected with. Throws when it is not. */
export async function rejection(promise: PromiseLike<unknown> | undefined): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (reason) {
    return reason;
  }
  throw new Error(`What had to fail returned ${Bun.inspect(value)}.`);
}

/** {@link rejection} as `toThrow` takes it: a function that throws it. */
export async function throwing(promise: PromiseLike<unknown> | undefined): Promise<() => never> {
  const reason = await rejection(promise);
  return () => {
    throw reason;
  };
}
