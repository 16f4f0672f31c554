import { refused } from '../../../model/errors.ts';
import { allRows, firstRow } from './rows.ts';
import type { World } from './world.ts';

/** Takes an amount from one account and gives it to another. */
const MOVE = `INSERT INTO accounts (account, balance_msat) VALUES (?1, -?3), (?2, ?3)
  ON CONFLICT (account) DO UPDATE SET balance_msat = balance_msat + excluded.balance_msat
  RETURNING account, balance_msat < 0 AS isBelow`;

interface Changed {
  readonly account: string;
  readonly isBelow: number;
}

/**
 * Moves money between two accounts, within the caller's transaction: double entry, so that the sum over all accounts is
 * always zero. Throws `refused` when an account of a wallet or channel would go below zero; the accounts of the outside
 * world, the service and the genesis may.
 */
export function transfer(
  world: World,
  entry: {
    readonly from: string;
    readonly to: string;
    readonly amountMsat: bigint;
  },
): void {
  const { from, to, amountMsat } = entry;
  if (amountMsat < 0n) throw new RangeError('a transfer moves no negative amount');
  if (amountMsat === 0n || from === to) return;
  world.transact(() => {
    const changed = allRows<Changed>(world, MOVE, from, to, amountMsat);
    const isBelow = changed.some(({ account, isBelow }) => account === from && isBelow === 1);
    if (isBelow && isBounded(from)) {
      throw refused('The wallet does not have that much money: receive something first.');
    }
  });
}

/** Returns the balance of an account, in millisatoshis. */
export function balanceMsat(world: World, account: string): bigint {
  const sql = 'SELECT CAST(balance_msat AS TEXT) AS balance FROM accounts WHERE account = ?';
  return BigInt(firstRow<{ balance: string }>(world, sql, account)?.balance ?? '0');
}

function isBounded(account: string): boolean {
  return /^(wallet|channel|htlc):/.test(account);
}
