import type { Invalid } from './bigsize.ts';
import { hostProblem, isHost } from './web-host.ts';

/** The two parts of `name@host`, in lower case. The host may have a port. */
export interface NameAtHost {
  readonly username: string;
  readonly domain: string;
}

interface NameRules {
  readonly isName: (name: string) => boolean;
  /** What a name must be, for errors, such as `1 to 64 letters a-z`. */
  readonly nameRule: string;
  /** Whether the host may have underscores; see {@link isHost}. */
  readonly underscores: boolean;
}

/** Reads `name@host` by the rules of one kind of address. Calls `invalid` for any other text. */
export function readNameAtHost(text: string, rules: NameRules, invalid: Invalid): NameAtHost {
  const [username = '', domain = '', more] = text.split('@');
  // This is checked before the conversion to lower case, which would turn a Kelvin sign into a "k".
  if (more !== undefined || !rules.isName(username)) {
    invalid(`the part before @ must be ${rules.nameRule}`);
  }
  if (!isHost(domain, { underscores: rules.underscores })) invalid(hostProblem(domain));
  return { username: username.toLowerCase(), domain: domain.toLowerCase() };
}
