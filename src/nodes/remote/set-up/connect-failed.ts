import { codeOf } from '../../../lib/error-code.ts';
import { ApiError, isApiError } from '../../../model/errors.ts';
import { RemoteFailure } from '../calls/failure.ts';
import type { RemoteLocation } from '../calls/location.ts';
import type { ConnectWords } from './connect-words.ts';

/**
 * The error that tells the person at the command `connect` why a node was not reached and what to do, for an error of
 * the first call to it. Other errors are returned as they are.
 */
export function connectFailed(
  words: ConnectWords,
  location: RemoteLocation,
  error: unknown,
): unknown {
  const sentence = sentenceFor(words, location, error);
  if (sentence === null || !(error instanceof ApiError)) return error;
  return new ApiError(error.kind, sentence, { cause: error });
}

function sentenceFor(words: ConnectWords, location: RemoteLocation, error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  const { cause } = error;
  if (cause instanceof RemoteFailure) return ofFailure(words, location, cause);
  if (isApiError(error, 'unreadable', 'notFound', 'unsupported', 'refused')) {
    return ofAnswer(words, location, error);
  }
  return null;
}

/** Codes of a server that answers something else where TLS begins. */
const NO_TLS: ReadonlySet<string> = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER']);

function ofFailure(
  { title, tokenName, port, enableTls, certFile, noCert, nameHosts }: ConnectWords,
  { url, cert }: RemoteLocation,
  { reason, cause }: RemoteFailure,
): string | null {
  const { host, hostname } = new URL(url);
  const code = codeOf(cause);
  if (reason === 'certificate') {
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
      return `The certificate of ${title} is not for the host ${hostname}: give a host of the certificate, such as 127.0.0.1 on the same machine, or ${nameHosts}.`;
    }
    if (code === 'CERT_HAS_EXPIRED') {
      return `The certificate of ${title} has expired: have ${title} make a new one, and give that.`;
    }
    return cert === null
      ? `${title} at ${host} shows a certificate that it made itself, and ${noCert}.`
      : `${title} at ${host} shows another certificate than the one that was given: give the one of this node, ${certFile}.`;
  }
  if (reason === 'timeout') {
    return `${host} did not answer in time: check that the URL has ${port}, and that no firewall is between.`;
  }
  if (reason !== 'unreachable') return null;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `The host ${hostname} is not known: check the URL.`;
  }
  if (NO_TLS.has(code)) {
    return `${host} does not speak TLS, without which a ${tokenName} must not be sent: check that the URL has ${port}. If ${title} speaks http alone, ${enableTls} and try again.`;
  }
  if (code === 'ECONNREFUSED' || code === 'ConnectionRefused') {
    return `Nothing listens at ${host}: check that ${title} is running, and that the URL has ${port}.`;
  }
  return `${host} closed the connection without an answer, as the port for peers does: check that the URL has ${port}.`;
}

function ofAnswer(
  { title, port, other }: ConnectWords,
  { url }: RemoteLocation,
  { message, kind }: ApiError,
): string | null {
  const { host, pathname, origin } = new URL(url);
  if (other.answers.test(message)) return `The node at ${host} ${other.sentence}`;
  if (kind === 'refused') return null;
  return pathname === '/'
    ? `What answers at ${host} is not ${title}, or a release that is not supported: check that the URL has ${port}.`
    : `${title} does not answer at the path ${pathname}: give --url as ${origin}.`;
}
