import type { Invalid } from './bigsize.ts';
import { CodecError } from './codec-error.ts';
import { type NameAtHost, readNameAtHost } from './name-at-host.ts';

/** A Human Bitcoin Address (BIP 353). Only on the sandbox its domain may have a port. */
export interface HumanBitcoinName extends NameAtHost {
  /** See {@link recordName}. */
  readonly dnsName: string;
}

const MAX_DNS_NAME = 253;

const RULES = {
  isName: (name: string) =>
    /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i.test(name) && !name.includes('..'),
  nameRule:
    '1 to 63 letters a-z, digits, dots, hyphens and underscores, with a letter or digit at either end and no two dots in a row',
  underscores: true,
};

/** Reads `₿user@domain`; the `₿` is optional. Throws CodecError('human-bitcoin-address'). */
export function decodeHumanBitcoinAddress(text: string): HumanBitcoinName {
  const { username, domain } = readNameAtHost(text.replace(/^₿/, ''), RULES, invalid);
  const dnsName = recordName({ username, domain });
  if (dnsName.replace(/:\d+$/, '').length > MAX_DNS_NAME) invalid('it is too long for the DNS');
  return { username, domain, dnsName };
}

/** The DNS name of the TXT record by which payers find a name (BIP 353). */
export function recordName({ username, domain }: NameAtHost): string {
  return `${username}.user._bitcoin-payment.${domain}`;
}

/** The text of the TXT record of a name that stands for an offer (BIP 353): a BIP 321 URI. */
export function recordText(offer: string): string {
  return `bitcoin:?lno=${offer}`;
}

/** Writes `₿user@domain`. */
export function encodeHumanBitcoinAddress({ username, domain }: NameAtHost): string {
  return `₿${username}@${domain}`;
}

const invalid: Invalid = (rule) => {
  throw new CodecError('human-bitcoin-address', `This is not a Human Bitcoin Address: ${rule}.`);
};
