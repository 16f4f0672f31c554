/** Decodes JSON of a column that is not signed; `otherwise` for what is none, which only somebody else wrote. */
export function parsedOr<T>(json: string, otherwise: T): T {
  try {
    return JSON.parse(json) as T;
  } catch {
    return otherwise;
  }
}
