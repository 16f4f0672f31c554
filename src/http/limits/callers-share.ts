import { ApiError } from '../../model/errors.ts';

/** How much of what all callers share one caller holds at a time. */
export interface CallersShare {
  /** Takes one place. Returns a function that gives it back, once. Throws `overCapacity` when the share is taken. */
  take(caller: string): () => void;
}

/** Gives every caller so many places at once; `what` names them in the message. */
export function callersShare(most: number, what: string): CallersShare {
  const held = new Map<string, number>();
  return {
    take(caller) {
      const count = held.get(caller) ?? 0;
      if (count >= most) {
        throw new ApiError(
          'overCapacity',
          `These credentials have ${most} ${what} already: end one of them first.`,
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
