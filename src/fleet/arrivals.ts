import { ApiError } from '../model/errors.ts';
import { ENDING_HEADER } from './headers.ts';
import { PASSED_ON_HEADER, type PassedOn, type PassedOnSeal } from './passed-on.ts';
import { NOT_LEADING, STALE, targetOf, USED } from './stand-by.ts';

/** What a request that arrived is: one of a caller, or one that another sidecar passed on to this one. */
type Arrival =
  | { readonly kind: 'own' }
  | { readonly kind: 'passed_on'; readonly facts: PassedOn }
  /** One that was passed on to a sidecar that leads, which is not, or not any more, this process. */
  | { readonly kind: 'misdirected' }
  /** One whose header was used before, or is too old or too new by the clock of this machine. */
  | { readonly kind: 'used' | 'stale' };

/**
 * Looks at a request that arrived, and takes {@link PASSED_ON_HEADER} away. Of a request that was passed on, the Host
 * header becomes the one that its caller sent. `fence` is the fencing number of this process; null while it stands by.
 */
export function lookAtArrival(request: Request, seal: PassedOnSeal, fence: string | null): Arrival {
  const { headers, method } = request;
  const header = headers.get(PASSED_ON_HEADER);
  if (header === null) return { kind: 'own' };
  headers.delete(PASSED_ON_HEADER);
  const genuine = seal.read(header, { method, target: targetOf(request) });
  // Anybody can write a header of this name. Without the key it says nothing.
  if (genuine === null) return { kind: 'own' };
  if (genuine.fence !== fence) return { kind: 'misdirected' };
  const kind = seal.useUp(genuine);
  if (kind !== 'good') return { kind };
  const { host, source } = genuine;
  headers.set('host', host);
  return { kind: 'passed_on', facts: { host, source } };
}

/** The answer to a request passed on to a sidecar that does not lead; it is never passed on again. */
export function answerMisdirected(): Response {
  return answerUnserved('This sidecar does not lead: try again in a moment.', NOT_LEADING);
}

/** Returns the answer to a request whose header is not good, or not any more (docs/decisions.md 163). */
export function answerNotGood(kind: 'used' | 'stale'): Response {
  return kind === 'used'
    ? answerUnserved('This request was passed on before: make it again.', USED)
    : answerUnserved('This request was passed on at another time: set the clocks.', STALE);
}

function answerUnserved(message: string, why: string): Response {
  const error = new ApiError('overCapacity', message);
  return Response.json(error.body(), {
    status: error.httpStatus,
    headers: { [ENDING_HEADER]: why },
  });
}
