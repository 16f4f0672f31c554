import { codeOf } from '../error-code.ts';
import type { Owner } from '../files/data-dir.ts';

/** An address that cannot be listened on; the message is one sentence for the person who starts the program. */
class ListenFailed extends Error {
  override readonly name = 'ListenFailed';
}

/**
 * Makes an error that says why the program cannot listen on `address` (host and port), and what to do. `owner` is the
 * wallet-sidecar that owns the data directory, if any: the most frequent reason is that it is running already. `flag`
 * is the setting.
 */
export function listenFailed(
  address: string,
  error: unknown,
  owner: Owner | null,
  flag = '--listen-addr',
): ListenFailed {
  return new ListenFailed(sentence(address, codeOf(error), owner, flag), { cause: error });
}

function sentence(address: string, code: string, owner: Owner | null, flag: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return owner?.url?.endsWith(address)
        ? `${address} is in use, by the wallet-sidecar with process id ${owner.pid}, started at ${owner.startedAt}: use or stop that one, or start another with --listen-addr and --data-dir.`
        : `${address} is in use by another program: stop that one, or name another address with ${flag}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOENT':
    case 'ENOTFOUND':
      return `${address} is not an address of this machine: name one that is with ${flag}.`;
    case 'EACCES':
    case 'EPERM':
      return `${address} needs a right that this user does not have: name a port from 1024 up with ${flag}.`;
    default:
      return `${address} cannot be listened on (${code || 'unknown error'}): name another address with ${flag}.`;
  }
}
