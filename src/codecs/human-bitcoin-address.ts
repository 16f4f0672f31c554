import type { Invalid } from './bigsize.ts';
import { CodecError } from './codec-error.ts';
import { type NameAtHost, readNameAtHost } from './name-at-host.ts';

/** A Human Bitcoin Address (BIP 353). Only on the sandbox its domain may have a port. */
export interface HumanBitcoinName extends NameAtHost {
  /** The DNS name of its record: `<user>.user._bitcoin-payment.<domain>`. */
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
  const dnsName = `${username}.user._bitcoin-payment.${domain}`;
  if (dnsName.replace(/:\d+$/, '').length > MAX_DNS_NAME) invalid('it is too long for the DNS');
  return { username, domain, dnsName };
}

/** Writes `₿user@domain`. */
export function encodeHumanBitcoinAddress({ username, domain }: NameAtHost): string {
  return `₿${username}@${domain}`;
}

const invalid: Invalid = (rule) => {
  throw new CodecError('human-bitcoin-address', `This is not a Human Bitcoin Address: ${rule}.`);
};
