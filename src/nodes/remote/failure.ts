import { codeOf } from '../../lib/error-code.ts';
/** Why a request to a node got no answer that can be read. */
export type FailureReason =
  /** The connection could not be made, or was cut. */
  | 'unreachable'
  /** The other side is not the one whose certificate was given. */
  | 'certificate'
  | 'timeout'
  /** The answer is larger than such an answer can be. */
  | 'oversized'
  /** The answer sends the request elsewhere; that is never followed. */
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

/** The certificate was refused during the handshake, before the request. */
const CERTIFICATE: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
]);
/** There was no connection to write to. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ConnectionRefused',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'FailedToOpenSocket',
]);
const REDIRECT = 'UnexpectedRedirect';

/** What the runtime threw, as a {@link RemoteFailure}. Anything that is no proof of the contrary may have left. */
export function failureOf(error: unknown): RemoteFailure {
  if (error instanceof RemoteFailure) return error;
  const { name = '', code = '' } = error as { name?: string; code?: string };
  if (CERTIFICATE.has(code)) return new RemoteFailure('certificate', true, error);
  if (code === REDIRECT) return new RemoteFailure('redirected', false, error);
  if (name === 'AbortError') return new RemoteFailure('aborted', false, error);
  return new RemoteFailure('unreachable', NOT_CONNECTED.has(code), error);
}

/** Whether a pooled connection turned out to be dead: the node was restarted since it was last used. */
export function wasCut(error: unknown): boolean {
  const cause = error instanceof RemoteFailure ? error.cause : error;
  return codeOf(cause) === 'ECONNRESET';
}
