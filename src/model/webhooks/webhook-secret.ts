import { base64 } from '@scure/base';
import type { Parsed } from '../parsed.ts';

/** The size of a webhook secret in bytes (docs/decisions.md 93). */
const SECRET_BYTES = { least: 24, most: 64 };

/** Reads a signing secret, with or without `whsec_`; returns base64 without the prefix. */
export function parseWebhookSecret(text: string): Parsed<string> {
  const value = text.replace(/^whsec_/, '');
  const { least, most } = SECRET_BYTES;
  try {
    const { length } = base64.decode(value);
    if (length >= least && length <= most) return { value };
  } catch {
    // Text that is not base64 is invalid for the same reason as a wrong length; see the message below.
  }
  return { problem: `must be base64 of ${least} to ${most} random bytes, with or without whsec_` };
}
