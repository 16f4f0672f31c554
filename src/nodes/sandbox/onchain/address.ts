import { type DecodedAddress, encodeAddress } from '../../../codecs/address.ts';
import { refused } from '../../../model/errors.ts';

/** Returns the address of a script of this world. */
export function addressOf(script: Uint8Array): string {
  const address = encodeAddress(script, 'regtest');
  if (address === null) throw new Error('a wallet script has no address');
  return address;
}

/** The script that an address pays to. Throws `refused` when the address is for another network. */
export function scriptOf({ networks, scriptPubKey }: DecodedAddress): Uint8Array {
  if (networks.includes('regtest')) return scriptPubKey;
  throw refused(
    `The address is for ${networks.join(' or ')} and the sandbox is on regtest; ask for an address on regtest.`,
  );
}
