/** Requests that one look sends beside each other. */
const AT_ONCE = 8;

/** What `ask` returns for each of the items, some at a time, in their order. */
export async function* inBatches<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): AsyncGenerator<Answer[], void, undefined> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    yield await Promise.all(items.slice(from, from + AT_ONCE).map(ask));
  }
}
