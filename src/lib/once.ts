/**
 * Returns a function that calls `make` when it is first called, and returns what that made ever after. It is for what
 * takes long to make and what most starts do not need, such as the schemas of requests and answers.
 */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
