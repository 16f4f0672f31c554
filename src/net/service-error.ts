import { ApiError } from '../model/errors.ts';

/** What went wrong with a service outside; shown as `data.problem` of error 113. */
export type ServiceProblem =
  /** Its address may not be asked, so nothing was sent to it. */
  | 'not_allowed'
  | 'unreachable'
  | 'timed_out'
  /** It answered something that this wallet cannot use. */
  | 'unusable_answer'
  /** It answered that it will not do it; `data.reason` is its reason. */
  | 'refused';

/** Error 113: a service that a payment string or the configuration names cannot be used (decisions section 2). */
export function serviceFailed(
  problem: Exclude<ServiceProblem, 'refused'>,
  message: string,
  cause?: unknown,
): ApiError {
  return new ApiError('serviceFailed', message, { data: { problem }, cause });
}

/** Error 113 for a service's own refusal. `reason` must be printable; it is empty when the service gave none. */
export function serviceRefusal(reason: string): ApiError {
  const message =
    reason === '' ? 'The service refused without a reason.' : `The service answered: ${reason}`;
  return new ApiError('serviceFailed', message, { data: { problem: 'refused', reason } });
}

/** Whether an error is a service's own refusal, and not a failure to ask it or to read its answer. */
export function isServiceRefusal(error: unknown): error is ApiError {
  return problemOf(error) === 'refused';
}

/** Whether an error says that a service was not asked at all, because its address is not allowed. */
export function isServiceNotAsked(error: unknown): error is ApiError {
  return problemOf(error) === 'not_allowed';
}

function problemOf(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.kind !== 'serviceFailed') return null;
  const { data } = error;
  return typeof data === 'object' && data !== null && 'problem' in data ? data.problem : null;
}
