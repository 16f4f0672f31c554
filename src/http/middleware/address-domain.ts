import { payeeProblem } from '../../wallet/names/payee.ts';
import { apiForm, type ErrorForm } from './errors.ts';

const METHODS = 'GET, HEAD, OPTIONS';

/**
 * Returns whether a request names the address domain as its Host. The routes for payers answer such a request to pages
 * of any origin; every other route rejects it (docs/decisions.md 100).
 */
export function isAtDomain({ headers }: Request, domainHosts: ReadonlySet<string>): boolean {
  return domainHosts.size > 0 && domainHosts.has(headers.get('host')?.toLowerCase() ?? '');
}

/** Lets pages of any origin read an answer, without credentials. */
export function openToPages({ headers }: Response): void {
  headers.set('access-control-allow-origin', '*');
}

/** Returns the answer to OPTIONS of a route for payers, which a browser asks before some requests of a page. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      allow: METHODS,
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': '*',
      'access-control-max-age': '86400',
    },
  });
}

/** Writes an error for payers as one of LNURL (LUD-06). Callers who may not call the route get error 112. */
export const payerForm: ErrorForm = (error) =>
  error.kind === 'hostNotAllowed' ? apiForm(error) : { httpStatus: 200, body: payeeProblem(error) };
