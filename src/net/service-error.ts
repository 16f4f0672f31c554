import { ApiError } from '../model/errors.ts';

/** What went wrong with an outside service. Error 113 shows it as `data.problem` (docs/decisions.md 11). */
export type ServiceProblem =
  /** The address of the service is not allowed, so nothing was sent to it. */
  | 'not_allowed'
  | 'unreachable'
  | 'timed_out'
  /** This wallet cannot use the answer of the service. */
  | 'unusable_answer'
  /** The service refused; `data.reason` is its reason. */
  | 'refused';

/** Makes error 113: a service that a payment string or the configuration names failed (docs/decisions.md 11). */
export function serviceFailed(
  problem: Exclude<ServiceProblem, 'refused'>,
  message: string,
  cause?: unknown,
): ApiError {
  return new ApiError('serviceFailed', message, { data: { problem }, cause });
}

/** Makes error 113 for a service that refused. `reason` must be printable; it is empty when the service gave none. */
export function serviceRefusal(reason: string): ApiError {
  const message =
    reason === '' ? 'The service refused without a reason.' : `The service answered: ${reason}`;
  return new ApiError('serviceFailed', message, { data: { problem: 'refused', reason } });
}

/** Whether a service refused, and was not merely out of reach or its answer of no use. */
export function isServiceRefusal(error: unknown): error is ApiError {
  return problemOf(error) === 'refused';
}

/** Returns whether an error says that nothing was sent to a service, because its address is not allowed. */
export function isServiceNotAsked(error: unknown): error is ApiError {
  return problemOf(error) === 'not_allowed';
}

function problemOf(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.kind !== 'serviceFailed') return null;
  const { data } = error;
  return typeof data === 'object' && data !== null && 'problem' in data ? data.problem : null;
}
