import { spyOn } from 'bun:test';

/**
 * Until it is disposed, no time passes for what measures durations by `elapsedMs`. What the product repeats for a second
 * is then repeated as often as it may be, however long the machine takes to open a connection.
 */
export function stillClock(): Disposable {
  const spy = spyOn(performance, 'now').mockReturnValue(performance.now());
  return { [Symbol.dispose]: () => spy.mockRestore() };
}
