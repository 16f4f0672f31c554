/** Returns one function that calls both. */
export function both(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}
