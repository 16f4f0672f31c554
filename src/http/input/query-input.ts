import { rejected } from '../../model/errors.ts';
import type { InputFields } from './input-fields.ts';

/**
 * The query parameters of a request's URL. One that the route knows and that is given twice is error 7: nobody can say
 * which was meant (decisions section 3).
 */
export function queryInput(url: string, fields: InputFields | null): Record<string, string> {
  const start = url.indexOf('?');
  if (start < 0) return {};
  const parameters = new URLSearchParams(url.slice(start));
  for (const name of new Set(parameters.keys())) {
    if (fields?.known.has(name) && parameters.getAll(name).length > 1) {
      throw rejected(name, 'is given twice in the query: give it once');
    }
  }
  return Object.fromEntries(parameters);
}
