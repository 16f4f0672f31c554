import { CodecError } from './codec-error.ts';
import { hostProblem, isHost, schemeFor } from './web-host.ts';

/** A Lightning Address and the URL of its LNURL-pay service. */
export interface LightningAddress {
  readonly username: string;
  /** The domain, which may have a port. */
  readonly domain: string;
  readonly url: string;
}

/** Reads `name@domain` (LUD-16). Throws CodecError('lightning-address'). */
export function decodeLightningAddress(text: string): LightningAddress {
  const [username = '', domain = '', more] = text.split('@');
  // This is checked before the conversion to lower case, which would turn a Kelvin sign into a "k".
  if (more !== undefined || !/^[a-z0-9._+-]{1,64}$/i.test(username)) {
    invalid(
      'the part before @ must be 1 to 64 letters a-z, digits, dots, hyphens, underscores and plus signs',
    );
  }
  if (!isHost(domain)) invalid(hostProblem(domain));
  const [name, host] = [username.toLowerCase(), domain.toLowerCase()];
  const url = `${schemeFor(host)}://${host}/.well-known/lnurlp/${encodeURIComponent(name)}`;
  return { username: name, domain: host, url };
}

function invalid(rule: string): never {
  throw new CodecError('lightning-address', `This is not a Lightning Address: ${rule}.`);
}
