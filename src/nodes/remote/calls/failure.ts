import { codeOf } from '../../../lib/error-code.ts';
/** Why a request to a node ended without an answer that can be read. */
export type FailureReason =
  /** The connection could not be made, or was cut. */
  | 'unreachable'
  /** The proxy could not be reached, or did not connect to the node. */
  | 'proxy'
  /** The place is an onion service, and no proxy is configured. */
  | 'onion'
  /** The server did not show the certificate that was given. */
  | 'certificate'
  | 'timeout'
  /** The answer is larger than the bound. */
  | 'oversized'
  /** The answer is a redirect, which is never followed. */
  | 'redirected'
  | 'aborted';

/** A request that ended without an answer. */
export class RemoteFailure extends Error {
  override readonly name = 'RemoteFailure';
  constructor(
    readonly reason: FailureReason,
    /** Whether it is certain that no byte of the request was written. */
    readonly nothingSent: boolean,
    cause?: unknown,
  ) {
    super(`the request failed: ${reason}`, cause === undefined ? undefined : { cause });
  }
}

/** Error codes of the handshake when the certificate is not accepted; the request was not sent. */
const CERTIFICATE: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
]);
/** Error codes of a connection that was never made; the request was not sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ConnectionRefused',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'FailedToOpenSocket',
]);
const REDIRECT = 'UnexpectedRedirect';

/** Makes a {@link RemoteFailure} of a runtime's error. Unless it proves otherwise, the request may have left. */
export function failureOf(error: unknown): RemoteFailure {
  if (error instanceof RemoteFailure) return error;
  const { name = '', code = '' } = error as { name?: string; code?: string };
  if (CERTIFICATE.has(code)) return new RemoteFailure('certificate', true, error);
  if (code === REDIRECT) return new RemoteFailure('redirected', false, error);
  if (name === 'AbortError') return new RemoteFailure('aborted', false, error);
  return new RemoteFailure('unreachable', NOT_CONNECTED.has(code), error);
}

/** Returns whether a pooled connection was dead, as after a restart of the node. */
export function wasCut(error: unknown): boolean {
  const cause = error instanceof RemoteFailure ? error.cause : error;
  return codeOf(cause) === 'ECONNRESET';
}
