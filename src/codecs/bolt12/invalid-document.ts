import type { Invalid } from '../bigsize.ts';
import { CodecError, type CodecFormat } from '../codec-error.ts';

/** Makes the `Invalid` of a document: "This <document> is not valid: <problem>; <next step>." */
export function invalidDocument(format: CodecFormat, document: string, nextStep: string): Invalid {
  return (problem) => {
    throw new CodecError(format, `This ${document} is not valid: ${problem}; ${nextStep}.`);
  };
}
