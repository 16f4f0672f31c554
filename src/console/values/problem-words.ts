import { ERROR_CODES, WalletSidecarError } from '../../client/index.ts';

/**
 * Returns what an error says, with the fields of requests called as the forms call them in `names`. What is wrong with
 * one field is told of that field; what else names a field has its name in quotes.
 */
export function problemWords(error: Error, names: Readonly<Record<string, string>>): string {
  const isRejected = error instanceof WalletSidecarError && error.code === ERROR_CODES.rejected;
  const issue = isRejected ? error.data?.issues?.[0] : undefined;
  const name = issue && names[issue.path];
  if (issue && name !== undefined) return `${name}: ${issue.message.replace(MILLISECONDS, '')}`;
  return error.message.replace(FIELD, (field) => {
    const called = names[field];
    return called === undefined ? field : `“${called}”`;
  });
}

/** How a request writes times, which a form does not. */
const MILLISECONDS = /, in milliseconds since the UNIX epoch$/;
/** The name of a field that is no word of its own. */
const FIELD = /\b[a-z]+(?:_[a-z]+)+\b/g;
