import type { Input } from './rpc.ts';

/**
 * One page of a list by index, as LND's channeldb reads it. `index_offset` is exclusive. Zero begins at the oldest
 * item, or at the newest with `reversed`. The items of a page always ascend.
 */
export function pageOf<T>(
  all: readonly T[],
  indexOf: (item: T) => number,
  input: Input,
  most: number,
): { page: readonly T[]; first: string; last: string } {
  const offset = Number(input.int('index_offset'));
  const reversed = input.bool('reversed');
  const within = all.filter((item) =>
    reversed ? offset === 0 || indexOf(item) < offset : indexOf(item) > offset,
  );
  const page = reversed ? within.slice(-most) : within.slice(0, most);
  const index = (item: T | undefined) => `${item === undefined ? 0 : indexOf(item)}`;
  return { page, first: index(page[0]), last: index(page.at(-1)) };
}
