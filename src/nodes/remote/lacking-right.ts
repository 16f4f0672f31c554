import { isApiError, refused } from '../../model/errors.ts';

/** What the owner's token of a node was used for. */
interface Use {
  /** Completes "may not", such as `end clients' macaroons (macaroon:write)`. */
  readonly what: string;
  /** What the kind of node calls its tokens. */
  readonly token: string;
  /** The name of the kind of node in the command `connect`. */
  readonly kind: string;
}

/** Returns the error for a call with the owner's token: a missing right is told as the configuration's; others stay. */
export function orLackingRight(error: unknown, { what, token, kind }: Use): unknown {
  if (!isApiError(error, 'forbidden')) return error;
  return refused(
    `The configured ${token} may not ${what}: run \`connect ${kind}\` with one that may.`,
    error,
  );
}
