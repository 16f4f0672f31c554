import { until } from '../support/until.ts';

/** A kind of pause, told by its milliseconds. */
type Kind = (ms: number) => boolean;

/** Pauses that end when the test says so, or when their signal aborts. */
export function heldPauses() {
  const held = new Set<{ readonly ms: number; readonly end: () => void }>();
  const find = (is: Kind) => [...held].find(({ ms }) => is(ms));
  /** Waits until a pause of the kind has begun. */
  const begun = (is: Kind) => until(() => find(is), 'a pause begins');
  return {
    pause: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) return resolve();
        const one = {
          ms,
          end: () => {
            held.delete(one);
            resolve();
          },
        };
        held.add(one);
        signal?.addEventListener('abort', one.end, { once: true });
      }),
    begun,
    /** Ends a pause of the kind, and waits until the work that follows it has come to the next one. */
    async pass(is: Kind): Promise<void> {
      (await begun(is)).end();
      await begun(is);
    },
    /** Ends a pause of the kind. */
    async end(is: Kind): Promise<void> {
      (await begun(is)).end();
    },
  };
}
