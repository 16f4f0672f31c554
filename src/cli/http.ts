import { z } from 'zod';
import { type IgnoredFields, WalletSidecar, WalletSidecarError } from '../client/index.ts';
import { Transport } from '../client/transport.ts';
import { printable, printableJson } from '../lib/printable.ts';
import { CallFailed } from './call-failed.ts';
import { type Connection, type ConnectionFlags, connectionOf, isLocal } from './connection.ts';
import { cookieFor, listensElsewhere, mayNotLook, notedUrl } from './cookie.ts';
import type { CliIo } from './io.ts';
import { inOwnWords } from './own-words.ts';
import { withProgress } from './terminal/progress.ts';

/** A successful answer. */
export interface Answer<T> {
  /** The API's JSON, with characters that are unsafe for a terminal escaped. */
  readonly json: string;
  readonly value: T;
}

/** One call. The controls of the sandbox, which the client has no methods for, go over the transport. */
type SidecarCall = (sidecar: WalletSidecar, transport: Transport) => Promise<unknown>;

/**
 * Makes one call to a running sidecar and returns its answer. The answer is checked against the schema, because any
 * program may listen at the address. A call that takes longer than a second shows on the terminal what is done, unless
 * `doing` is null. Throws {@link CallFailed}.
 */
export type AskSidecar = <S extends z.ZodType>(
  call: SidecarCall,
  schema: S,
  doing?: string | null,
) => Promise<Answer<z.output<S>>>;

const UNAUTHORIZED = 401;
const NO_COOKIE =
  'Give --client-credentials-path, or name the data directory of the sidecar on this machine with --data-dir, so that the command finds its cookie.';

const COOKIE_STAYS =
  'The cookie of this sidecar is sent to a loopback address or over https alone: give --client-credentials-path, or have it listen on 0.0.0.0, which this machine reaches at 127.0.0.1.';

/** Bun's `fetch` uses the proxies in these variables for loopback too. */
const PROXIES = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** Returns a client of the sidecar that flags, environment or `.env` name. */
export function sidecarClient(io: CliIo, flags: ConnectionFlags): AskSidecar {
  const connection = connectionOf(io, flags);
  const { baseUrl, token } = connection;
  // A proxy could read what is sent to this machine. This process calls no other address, so the variables can go.
  if (isLocal(baseUrl)) for (const name of PROXIES) delete process.env[name];
  const options = {
    url: baseUrl,
    credentials: token ?? undefined,
    // Whether to try again is the user's decision.
    maxRetries: 0,
    // A wait or a payment may take hours, so there is no time limit.
    fetch: (url: string, init: RequestInit) =>
      connection.isAway ? refusedHere() : fetch(url, { ...init, timeout: false }),
    onIgnoredFields: ({ names }: IgnoredFields) =>
      io.stderr(
        `The sidecar does not know these fields of the request and ignored them: ${printable(names.join(', '))}. Is it an older version?`,
      ),
  };
  const sidecar = new WalletSidecar(options);
  const transport = new Transport(options);
  return async (call, schema, doing = 'Waiting for the sidecar') => {
    const answering = () => call(sidecar, transport);
    const answered = doing === null ? answering() : withProgress(io.terminal, doing, answering);
    const answer = await answered.catch((error: unknown) => {
      throw callFailed(error, connection, flags);
    });
    const read = schema.safeParse(answer);
    if (read.success) return { json: jsonText(answer), value: read.data };
    throw new CallFailed(foreignSentence(connection), { mayHaveTakenEffect: true });
  };
}

function callFailed(error: unknown, connection: Connection, flags: ConnectionFlags): unknown {
  if (!(error instanceof WalletSidecarError)) return error;
  const { code, data, httpStatus } = error;
  // What was done before needs no repeat that finds out.
  const isDone = Object(data).sent === 'yes';
  const wasNobody = connection.token === null && httpStatus === UNAUTHORIZED;
  const json = flags.json && error.kind === 'error' ? { json: jsonText(error.body) } : {};
  return new CallFailed(sentenceOf(error, connection), {
    mayHaveTakenEffect: error.mayHaveTakenEffect && !isDone,
    wasNobody,
    code,
    ...json,
  });
}

function sentenceOf(error: WalletSidecarError, connection: Connection): string {
  const { origin } = new URL(connection.baseUrl);
  switch (error.kind) {
    case 'error': {
      const noCookie = error.httpStatus === UNAUTHORIZED && !connection.given;
      const words = inOwnWords(error.message, issuesOf(error.data));
      const sentence = `${words.replace(/\.$/, '')} (error ${error.code}).`;
      return noCookie ? `${sentence} ${whereCookieIs(connection)}` : sentence;
    }
    case 'foreign':
      return foreignSentence(connection);
    case 'unreachable':
      if (connection.isAway) return awaySentence(connection);
      return `No sidecar answers at ${origin}${elsewhere(connection) ?? ': start one, or name it with --url.'}`;
    case 'unanswered': {
      const advice = error.mayHaveTakenEffect
        ? 'check what happened before you try again'
        : 'try again';
      return `The connection to ${origin} broke before the answer arrived: ${advice}.`;
    }
  }
}

function whereCookieIs({ baseUrl, dataDir, token }: Connection): string {
  if (token !== null) return `The cookie in ${dataDir} was sent; --data-dir names another one.`;
  if (!isLocal(baseUrl)) return cookieFor(baseUrl, dataDir) ? COOKIE_STAYS : NO_COOKIE;
  const noneThere = notedUrl(dataDir) === null ? NO_COOKIE : noCookieIn(dataDir);
  return listensElsewhere(baseUrl, dataDir) ?? mayNotLook(dataDir) ?? noneThere;
}

function noCookieIn(dataDir: string): string {
  return `The sidecar of ${dataDir} has no cookie that this user can read, as one with --peer-url has none: give --client-credentials-path.`;
}

function refusedHere(): Promise<never> {
  return Promise.reject(Object.assign(new Error('No sidecar runs.'), { code: 'ECONNREFUSED' }));
}

function elsewhere({ baseUrl, dataDir }: Connection): string | null {
  const sentence = isLocal(baseUrl) ? listensElsewhere(baseUrl, dataDir) : null;
  return sentence && `. ${sentence}`;
}

/** What a rejected request is rejected for. The body is not trusted to have this form. */
const rejectedData = z.object({
  issues: z.array(z.object({ path: z.string(), message: z.string() })),
});

function issuesOf(data: unknown): z.output<typeof rejectedData>['issues'] {
  const read = rejectedData.safeParse(data);
  return read.success ? read.data.issues : [];
}

function awaySentence({ dataDir }: Connection): string {
  return `No sidecar runs on ${dataDir}: start it with --data-dir ${dataDir}, or name the address of another with --url.`;
}

function foreignSentence({ baseUrl }: Connection): string {
  return `The answer from ${baseUrl} does not fit a wallet-sidecar of this version: check --url.`;
}

function jsonText(value: unknown): string {
  return printableJson(JSON.stringify(value));
}
