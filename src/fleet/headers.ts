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

/** Returns the headers of a request or an answer that concern its ends, and not one connection on the way. */
export function endToEnd(headers: Iterable<[string, string]>): [string, string][] {
  const all = [...headers].map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const named = all
    .filter(([name]) => name === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((name) => name.trim());
  const dropped = new Set([...OF_ONE_CONNECTION, ...named]);
  return all.filter(([name]) => !dropped.has(name));
}
