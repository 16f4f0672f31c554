import { refused } from '../../../model/errors.ts';
import { change, firstRow, insertRow } from './rows.ts';
import type { World } from './world.ts';

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
    readonly memo: string;
  },
): void {
  const { from, to, amountMsat, memo } = entry;
  if (amountMsat < 0n) throw new RangeError('a transfer moves no negative amount');
  if (amountMsat === 0n || from === to) return;
  world.transact(() => {
    if (isBounded(from)) takeBounded(world, from, amountMsat);
    else add(world, from, -amountMsat);
    add(world, to, amountMsat);
    insertRow(world, 'transfers', { debit: from, credit: to, amount_msat: amountMsat, memo });
  });
}

/** Returns the balance of an account, in millisatoshis. */
export function balanceMsat(world: World, account: string): bigint {
  const sql = 'SELECT CAST(balance_msat AS TEXT) AS balance FROM accounts WHERE account = ?';
  return BigInt(firstRow<{ balance: string }>(world, sql, account)?.balance ?? '0');
}

function add(world: World, account: string, amountMsat: bigint): void {
  const sql = `INSERT INTO accounts (account, balance_msat) VALUES (?, ?)
    ON CONFLICT (account) DO UPDATE SET balance_msat = balance_msat + excluded.balance_msat`;
  change(world, sql, account, amountMsat);
}

function takeBounded(world: World, account: string, amountMsat: bigint): void {
  const sql = `UPDATE accounts SET balance_msat = balance_msat - ?2
    WHERE account = ?1 AND balance_msat >= ?2`;
  if (change(world, sql, account, amountMsat) === 0)
    throw refused('The wallet does not have that much money: receive something first.');
}

function isBounded(account: string): boolean {
  return /^(wallet|channel|htlc):/.test(account);
}
