import { ApiError } from '../model/errors.ts';
import { get, readJson } from './bounded-get.ts';
import { readTxtAnswer } from './dns-json.ts';
import { serviceFailed } from './service-error.ts';

/** TXT records of a name, each joined to one text; null when the name does not exist or has none. */
export type ResolveTxt = (name: string) => Promise<readonly string[] | null>;

interface DohOptions {
  /** A resolver that validates DNSSEC and speaks `application/dns-json`. Configured by the operator, so trusted. */
  readonly url: string;
  /** Certificate authorities to trust in place of the system's, PEM. */
  readonly ca?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
/** The media types of the JSON form; some resolvers name only the general one. */
const JSON_TYPES: ReadonlySet<string> = new Set(['application/dns-json', 'application/json']);

/**
 * Asks for TXT records over HTTPS (decisions section 12): one request, no redirects, 10 seconds, 64 KiB. Throws
 * error 113 for everything that goes wrong. Throws at once when the resolver's URL is not https: on the way to it
 * the answer could be forged.
 */
export function createTxtResolver({ url, ca, timeoutMs = TIMEOUT_MS }: DohOptions): ResolveTxt {
  if (URL.parse(url)?.protocol !== 'https:') {
    throw new TypeError('The DNS-over-HTTPS resolver must be an https URL: check --doh-url.');
  }
  return async (name) => {
    const question = new URL(url);
    question.searchParams.set('name', name);
    question.searchParams.set('type', 'TXT');
    question.searchParams.set('do', '1');
    const signal = AbortSignal.timeout(timeoutMs);
    return readTxtAnswer(await ask(question, { signal, ca }), name);
  };
}

async function ask(
  url: URL,
  { signal, ca }: { signal: AbortSignal; ca: string | undefined },
): Promise<unknown> {
  try {
    const response = await get({ url, accept: 'application/dns-json', signal, ca });
    const { statusCode, headers } = response;
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (statusCode === 200 && JSON_TYPES.has(type)) return await readJson(response, url, MAX_BYTES);
    response.destroy();
    throw serviceFailed(
      'unusable_answer',
      'The DNS-over-HTTPS resolver does not answer with application/dns-json: check --doh-url.',
    );
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const problem = signal.aborted ? 'timed_out' : 'unreachable';
    throw serviceFailed(
      problem,
      'The DNS-over-HTTPS resolver cannot be reached: check --doh-url.',
      error,
    );
  }
}
