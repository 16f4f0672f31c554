import { unsupportedBy } from '../../refusals.ts';

/**
 * Texts that Core Lightning cannot take. It gets them as JSON, which writes quotation marks, backslashes and control
 * characters with an escape.
 */

/** Throws `unsupported` for a message that `fetchinvoice` would send with escapes of JSON. */
export function requireMessage(message: string | null): void {
  if (message === null || JSON.stringify(message) === `"${message}"`) return;
  throw unsupportedBy(
    'cln',
    'Core Lightning sends no quotation marks, backslashes, line breaks or control characters in a message: leave them out.',
  );
}

/** Throws `unsupported` for a description that the node refuses: it reads no character that JSON writes as `\u`. */
export function requireDescription(description: string | null): void {
  // The backslashes of the text itself are escapes of another kind.
  if (!JSON.stringify((description ?? '').replaceAll('\\', '')).includes('\\u')) return;
  throw unsupportedBy(
    'cln',
    'Core Lightning takes no control characters but line breaks and tabs in a description: leave them out.',
  );
}
