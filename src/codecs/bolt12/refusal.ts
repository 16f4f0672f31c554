import type { Refuse } from '../bigsize.ts';
import { CodecError, type CodecFormat } from '../codec-error.ts';

/**
 * Makes the `Refuse` of one kind of document. It throws `CodecError(format)` with the message
 * "This <document> is not valid: <problem>; <next step>."
 */
export function refusal(format: CodecFormat, document: string, nextStep: string): Refuse {
  return (problem) => {
    throw new CodecError(format, `This ${document} is not valid: ${problem}; ${nextStep}.`);
  };
}
