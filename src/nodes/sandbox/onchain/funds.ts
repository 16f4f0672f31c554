import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { AddressType } from '../../../model/receive.ts';
import type { SingleKeyKind } from '../chain/keys.ts';
import { untrustedSat } from '../chain/outputs.ts';
import { nextUnusedScript } from '../chain/scripts.ts';
import { balanceMsat } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import { addressOf } from './address.ts';
import { onchainAccount, walletCoins } from './owners.ts';

const KINDS: Readonly<Record<AddressType, SingleKeyKind>> = { segwit: 'p2wpkh', taproot: 'p2tr' };

/** Returns the wallet's receiving address of that type, the same until a payment to it is seen. */
export function nextUnusedAddress(world: World, userPk: string, type: AddressType): string {
  const owner = { ...walletCoins(world, userPk), kind: KINDS[type] };
  return addressOf(nextUnusedScript(world, owner, 'receive').script);
}

/** The wallet's on-chain balances in millisatoshis (docs/api.md, Node info). */
interface OnchainBalances {
  readonly onchainBalanceMsat: bigint;
  /** Without unconfirmed coins that others sent; only this can be spent. */
  readonly onchainTrustedMsat: bigint;
}

/** Reads the balances. The ledger holds the sum, so only unconfirmed payments of others are added up. */
export function onchainBalances(world: World, userPk: string): OnchainBalances {
  const account = onchainAccount(userPk);
  const onchainBalanceMsat = balanceMsat(world, account);
  return {
    onchainBalanceMsat,
    onchainTrustedMsat: onchainBalanceMsat - untrustedSat(world, account) * MSAT_PER_SAT,
  };
}
