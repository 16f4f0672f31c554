import { rejected } from '../../model/errors.ts';

/** Returns the query parameters of a request's URL. */
export function queryParameters(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}

/** Throws error 7 for the parameter that is given twice: which one is meant cannot be known (docs/decisions.md 19). */
export function rejectTwice(parameters: URLSearchParams): never {
  const counts = new Map<string, number>();
  for (const name of parameters.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [twice = ''] = [...counts].find(([, count]) => count > 1) ?? [];
  throw rejected(twice, 'appears twice in the query: give it once');
}
