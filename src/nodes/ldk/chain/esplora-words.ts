import { inSeconds } from '../../../lib/in-seconds.ts';
import { printable } from '../../../lib/printable.ts';
import { type FailureReason, RemoteFailure } from '../../remote/calls/failure.ts';

/** An answer of the Esplora that must not reach the node. The message is a sentence for health. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}

/** The most characters of a foreign address that are shown. */
const MOST_SHOWN = 100;

/** The error of an answer that is no Esplora's. */
export function unlikeEsplora(path: string): BadAnswer {
  const [first] = path.split('/');
  return new BadAnswer(
    `What --esplora-url names does not answer as an Esplora does (to /${first}): check the address and its path, such as /api.`,
  );
}

/** The error of a redirect. It is not followed: the other place was not chosen. */
export function redirected(status: number, location: string | null): BadAnswer {
  const to = printable(location ?? 'nowhere').slice(0, MOST_SHOWN);
  return new BadAnswer(
    `The Esplora sends requests on to ${to} (HTTP ${status}), which is not followed: name that address with --esplora-url if you trust it.`,
  );
}

/** The error of an Esplora that takes no requests for a while. */
export function tooMany(waitSecs: number): BadAnswer {
  return new BadAnswer(
    `The Esplora takes no more requests for now (HTTP 429) and is asked again after ${inSeconds(waitSecs)}: name another one with --esplora-url if this stays.`,
  );
}

/** The error of an answer with a status that says no. */
export function notGiven(status: number): BadAnswer {
  return new BadAnswer(
    status === 401 || status === 403
      ? `The Esplora refuses requests (HTTP ${status}): check what --esplora-url names, and whether it asks for a password.`
      : `The Esplora has a fault of its own (HTTP ${status}) and is asked again: if this stays, repair it or name another one with --esplora-url.`,
  );
}

const BROKEN: Readonly<Record<FailureReason, string>> = {
  unreachable: 'cannot be reached: check --esplora-url, and that it is running.',
  proxy: 'cannot be reached through the proxy: check that it is running.',
  onion: 'is an onion service, which cannot be reached: name another one with --esplora-url.',
  certificate:
    "shows a certificate that is not valid for it: check --esplora-url and this machine's clock.",
  oversized: 'sends answers that are too large: check --esplora-url.',
  redirected: 'answers with a redirect, which is not followed: check --esplora-url.',
  timeout: 'did not answer in time: check --esplora-url, and whether it is overloaded.',
  aborted: 'did not answer in time: check --esplora-url, and whether it is overloaded.',
};

/** Health's sentence for a request that brought no answer. */
export function problemOf(error: BadAnswer | RemoteFailure): string {
  return error instanceof RemoteFailure ? `The Esplora ${BROKEN[error.reason]}` : error.message;
}
