import { ApiError } from '../../model/errors.ts';

/** Limits how much of a shared resource one caller holds at a time (docs/decisions.md 75). */
export type CallersShare = ReturnType<typeof callersShare>;

/** Returns a limit of `most` places for each caller. `what` names the places in the error message. */
export function callersShare(most: number, what: string) {
  const held = new Map<string, number>();
  return {
    /**
     * Takes one place for the caller, and returns a function that gives it back; further calls of that function do
     * nothing. Throws `overCapacity` when the caller already holds all its places.
     */
    take(caller: string): () => void {
      const count = held.get(caller) ?? 0;
      if (count >= most) {
        throw new ApiError(
          'overCapacity',
          `This caller has ${most} ${what} already: end one of them first.`,
        );
      }
      held.set(caller, count + 1);
      let taken = true;
      return () => {
        if (!taken) return;
        taken = false;
        const left = (held.get(caller) ?? 1) - 1;
        if (left === 0) held.delete(caller);
        else held.set(caller, left);
      };
    },
  };
}
