import { rejected } from '../../model/errors.ts';

/** Returns the query parameters of a request's URL. */
export function queryParameters(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}

/** Throws error 7 for a parameter that is given twice: which one is meant cannot be known (docs/decisions.md 19). */
export function requireOnce(parameters: URLSearchParams): void {
  for (const name of new Set(parameters.keys())) {
    if (parameters.getAll(name).length > 1) {
      throw rejected(name, 'appears twice in the query: give it once');
    }
  }
}
