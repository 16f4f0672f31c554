import type { Invalid } from './bigsize.ts';
import { CodecError } from './codec-error.ts';
import { type NameAtHost, readNameAtHost } from './name-at-host.ts';
import { schemeFor } from './web-host.ts';

/** A Lightning Address and the URL of its LNURL-pay service. */
interface LightningAddress extends NameAtHost {
  readonly url: string;
}

const RULES = {
  isName: (name: string) => /^[a-z0-9._+-]{1,64}$/i.test(name),
  nameRule: '1 to 64 letters a-z, digits, dots, hyphens, underscores and plus signs',
  underscores: false,
};

/** Reads `name@domain` (LUD-16). Throws CodecError('lightning-address'). */
export function decodeLightningAddress(text: string): LightningAddress {
  const { username, domain } = readNameAtHost(text, RULES, invalid);
  const path = `/.well-known/lnurlp/${encodeURIComponent(username)}`;
  return { username, domain, url: `${schemeFor(domain)}://${domain}${path}` };
}

const invalid: Invalid = (rule) => {
  throw new CodecError('lightning-address', `This is not a Lightning Address: ${rule}.`);
};
