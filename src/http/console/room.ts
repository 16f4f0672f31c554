/** The most links, and sessions, of one caller. More replace its own alone, so that nobody ends those of others. */
const MOST_OF_ONE = 10;

/** How many there may be of all callers together, which bounds the memory; 100 clients of a wallet do not reach it. */
export const MOST_OF_ALL = 2000;

/** Returns which of those that exist must end, so that `caller` can have one more; undefined when there is room. */
export function endedForRoom<T extends { readonly caller: string }>(
  longestUnusedFirst: readonly T[],
  caller: string,
): T | undefined {
  const own = longestUnusedFirst.filter((one) => one.caller === caller);
  if (own.length >= MOST_OF_ONE) return own[0];
  return longestUnusedFirst.length >= MOST_OF_ALL ? longestUnusedFirst[0] : undefined;
}
