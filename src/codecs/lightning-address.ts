import { CodecError } from './codec-error.ts';
import { isHost, schemeFor } from './web-host.ts';

/** A Lightning Address and the LNURL-pay service it stands for. */
export interface LightningAddress {
  readonly username: string;
  /** May carry a port. */
  readonly domain: string;
  readonly url: string;
}

/** Reads `name@domain` (LUD-16). Throws CodecError('lightning-address'). */
export function decodeLightningAddress(text: string): LightningAddress {
  const [username = '', domain = '', more] = text.toLowerCase().split('@');
  if (more !== undefined || !/^[a-z0-9._+-]{1,64}$/.test(username)) {
    refuse('the part before @ must hold only a-z, 0-9, dot, hyphen and underscore');
  }
  if (!isHost(domain)) refuse('the part after @ is not a domain');
  const url = `${schemeFor(domain)}://${domain}/.well-known/lnurlp/${encodeURIComponent(username)}`;
  return { username, domain, url };
}

function refuse(rule: string): never {
  throw new CodecError('lightning-address', `This is not a Lightning Address: ${rule}.`);
}
