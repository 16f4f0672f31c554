import { PASSED_ON_HEADER } from './passed-on.ts';

/**
 * Marks an answer to a request that was passed on and that a sidecar which stops, or does not lead, could not serve. It
 * is for the sidecar that asked, and never reaches a caller.
 */
export const ENDING_HEADER = 'wallet-sidecar-ending';

/** Headers of one connection (RFC 9110, section 7.6.1), and those that each connection writes anew. */
const OF_ONE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  PASSED_ON_HEADER,
  ENDING_HEADER,
]);

/**
 * Returns the headers of a request or an answer that concern its ends, and not one connection on the way. What the
 * Connection header names goes on as well: a sidecar that is called itself does not heed it either, and a caller could
 * have credentials dropped that this sidecar has required (docs/decisions.md 139).
 */
export function endToEnd(headers: Iterable<[string, string]>): [string, string][] {
  return [...headers]
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !OF_ONE_CONNECTION.has(name));
}
