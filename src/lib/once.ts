/**
 * Returns a function that calls `make` when it is first called, and returns what that made ever after, whatever later
 * calls are given. It is for what takes long to make and what most starts do not need, such as the schemas of requests
 * and answers.
 */
export function once<Given extends readonly unknown[], T>(
  make: (...given: Given) => T,
): (...given: Given) => T {
  let made: { readonly value: T } | null = null;
  return (...given) => {
    made ??= { value: make(...given) };
    return made.value;
  };
}
