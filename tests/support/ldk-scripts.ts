import { HDKey } from '@scure/bip32';
import * as btc from '@scure/btc-signer';
import { nodeSeed } from '../../src/nodes/ldk/process/node-seed.ts';

/** More addresses than a test uses. */
const ADDRESSES = 200;

/** The scripts of the first addresses, receiving and change, of the LDK node of a root seed on regtest (BIP 84). */
export function ldkScripts(rootSeed: Uint8Array): readonly Uint8Array[] {
  const account = HDKey.fromMasterSeed(nodeSeed(rootSeed, 'regtest')).derive("m/84'/1'/0'");
  return [0, 1].flatMap((branch) =>
    Array.from({ length: ADDRESSES }, (_, index) => {
      const { publicKey } = account.deriveChild(branch).deriveChild(index);
      return btc.p2wpkh(publicKey as Uint8Array).script;
    }),
  );
}
