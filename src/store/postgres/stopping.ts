import { ApiError } from '../../model/errors.ts';

/** Returns the error of what this process does not do any more, because it ends. */
export function stopping(): ApiError {
  return new ApiError('overCapacity', 'The sidecar is stopping: try again in a moment.');
}
