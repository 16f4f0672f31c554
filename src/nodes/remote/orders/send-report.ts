import type { ApiError } from '../../../model/errors.ts';
import type { SendReport } from '../../node.ts';

/** The report for an error of a call that moves money: `refused` only where nothing was sent, else `unknown`. */
export function reportOf(error: ApiError): SendReport {
  return { state: error.outcomeUnknown ? 'unknown' : 'refused', error };
}
