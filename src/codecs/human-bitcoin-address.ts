import { CodecError } from './codec-error.ts';
import { hostProblem, isHost } from './web-host.ts';

/** A Human Bitcoin Address (BIP 353). */
export interface HumanBitcoinName {
  readonly username: string;
  /** The domain; on the sandbox it may have a port. */
  readonly domain: string;
  /** The DNS name of its record: `<user>.user._bitcoin-payment.<domain>`. */
  readonly dnsName: string;
}

const MAX_DNS_NAME = 253;

/** Reads `₿user@domain`; the `₿` is optional. Throws CodecError('human-bitcoin-address'). */
export function decodeHumanBitcoinAddress(text: string): HumanBitcoinName {
  const [username = '', domain = '', more] = text.replace(/^₿/, '').split('@');
  // This is checked before the conversion to lower case, which would turn a Kelvin sign into a "k".
  const isName = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i.test(username);
  if (more !== undefined || !isName || username.includes('..')) {
    invalid(
      'the part before @ must be 1 to 63 letters a-z, digits, dots, hyphens and underscores, with a letter or digit at either end and no two dots in a row',
    );
  }
  if (!isHost(domain, { underscores: true })) invalid(hostProblem(domain));
  const [name, host] = [username.toLowerCase(), domain.toLowerCase()];
  const dnsName = `${name}.user._bitcoin-payment.${host}`;
  if (dnsName.replace(/:\d+$/, '').length > MAX_DNS_NAME) invalid('it is too long for the DNS');
  return { username: name, domain: host, dnsName };
}

/** Writes `₿user@domain`. */
export function encodeHumanBitcoinAddress(name: { username: string; domain: string }): string {
  return `₿${name.username}@${name.domain}`;
}

function invalid(rule: string): never {
  throw new CodecError('human-bitcoin-address', `This is not a Human Bitcoin Address: ${rule}.`);
}
