import { decodeAddress, encodeAddress } from '../../../codecs/address.ts';
import { refused } from '../../../model/errors.ts';
import { readOrRefuse } from '../../../model/read-or-error.ts';

/** Returns the address of a script of this world. */
export function addressOf(script: Uint8Array): string {
  const address = encodeAddress(script, 'regtest');
  if (address === null) throw new Error('a wallet script has no address');
  return address;
}

/**
 * Returns the script that an address pays to. Throws `refused` when the text is not an address or is for another
 * network.
 */
export function scriptOf(address: string): Uint8Array {
  const { networks, scriptPubKey } = readOrRefuse(() => decodeAddress(address));
  if (networks.includes('regtest')) return scriptPubKey;
  throw refused(
    `The address is for ${networks.join(' or ')} and the sandbox is on regtest; ask for an address on regtest.`,
  );
}
