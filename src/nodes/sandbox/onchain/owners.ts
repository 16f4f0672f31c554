import type { ScriptOwner } from '../chain/scripts.ts';
import { outsideAccountKey, walletKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';

/** Ledger account of the coins that the outside world can spend. */
export const OUTSIDE_ONCHAIN = 'outside:onchain';

/** Returns the ledger account of a wallet's on-chain coins. */
export function onchainAccount(userPk: string): string {
  return `wallet:${userPk}:onchain`;
}

/** Returns the wallet that an on-chain account belongs to; null for other accounts. */
export function walletOfAccount(account: string): string | null {
  return /^wallet:([0-9a-f]{64}):onchain$/.exec(account)?.[1] ?? null;
}

/** Returns a wallet as the owner of scripts. They are P2WPKH, which every payer can pay. */
export function walletCoins(world: World, userPk: string): ScriptOwner {
  const { onchainAccountKey } = walletKeys(world, userPk);
  return { owner: onchainAccount(userPk), accountKey: onchainAccountKey, kind: 'p2wpkh' };
}

/** Returns the outside world as the owner of scripts. They are P2TR. */
export function outsideCoins(world: World): ScriptOwner {
  return { owner: OUTSIDE_ONCHAIN, accountKey: outsideAccountKey(world), kind: 'p2tr' };
}
