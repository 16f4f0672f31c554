import type { Invalid } from '../bigsize.ts';
import { CodecError } from '../codec-error.ts';

/** Throws CodecError('dns') that names the broken rule. */
export const invalidDns: Invalid = (problem) => {
  throw new CodecError('dns', `This DNS message is not valid: it ${problem}.`);
};
