import { z } from 'zod';
import { idOf } from '../../../model/payment.ts';
import type { PaymentId } from '../../../model/payment-index.ts';
import type { Observation } from '../../node.ts';
import { readAs } from '../../remote/calls/answer.ts';
import { sendLabel, transactionObservations } from '../words/translate.ts';
import {
  infoShape,
  type LndTransaction,
  transactionRowsShape,
  transactionShape,
  transactionsShape,
} from '../words/wire.ts';
import { standing } from './fee-bump.ts';
import type { LndRest } from './rest.ts';
import type { LndHandle } from './wallet.ts';

/** Blocks, about two weeks, in which a transaction is searched for. */
const RECENT_BLOCKS = 2016;

/** Returns the rows, not read, of transactions from `startHeight` on and of all unconfirmed ones. */
export async function transactionRowsSince(
  rest: LndRest,
  startHeight: number,
): Promise<readonly unknown[]> {
  const path = `/v1/transactions?start_height=${startHeight}&end_height=-1`;
  return (await rest.list(path, transactionRowsShape)).transactions;
}

/** {@link transactionRowsSince} read. Throws `unreadable` when one of them cannot be read. */
async function transactionsSince(
  rest: LndRest,
  startHeight: number,
): Promise<readonly LndTransaction[]> {
  return readAs('LND', z.array(transactionShape), await transactionRowsSince(rest, startHeight));
}

/** The transactions of two weeks and all unconfirmed ones; of a send with a raised fee the one that stands. */
export async function recentTransactions(rest: LndRest): Promise<readonly LndTransaction[]> {
  return standing(await listedTransactions(rest));
}

/** Returns the transactions of so many blocks, the last two weeks if absent, and all unconfirmed ones. */
export async function listedTransactions(
  rest: LndRest,
  blocks = RECENT_BLOCKS,
): Promise<readonly LndTransaction[]> {
  const { block_height } = await rest.get('/v1/getinfo', infoShape);
  return transactionsSince(rest, Math.max(0, block_height - blocks));
}

/**
 * Returns the on-chain payment of an id among the recent transactions, or null. Where several sends share its label
 * (docs/decisions.md 153), that is the oldest of them; with `onlyCertain` null, since the store may know another by it.
 */
export async function onchainPayment(
  { rest, wallet }: Pick<LndHandle, 'rest' | 'wallet'>,
  id: PaymentId,
  { onlyCertain }: { readonly onlyCertain: boolean },
): Promise<Observation | null> {
  const nowMs = wallet.clock.now();
  const listed = await listedTransactions(rest);
  const payments = standing(listed);
  const seen = payments
    .flatMap((one) => transactionObservations(one, nowMs))
    .find(({ payment }) => idOf(payment) === id);
  if (seen === undefined) return null;
  const labelsOf = new Map(listed.map(({ tx_hash, label }) => [tx_hash, label]));
  const sharing = payments.filter(
    ({ tx_hash }) => labelsOf.get(tx_hash) === sendLabel(id.slice('os_'.length)),
  );
  return onlyCertain && sharing.length > 1 ? null : seen;
}

/** Returns the transactions that no block has. */
export async function unconfirmedTransactions(rest: LndRest): Promise<readonly LndTransaction[]> {
  // A start and end height of -1 makes LND list unconfirmed transactions alone.
  const path = '/v1/transactions?start_height=-1&end_height=-1';
  const { transactions } = await rest.list(path, transactionsShape);
  return transactions.filter(({ num_confirmations }) => num_confirmations === 0);
}

/** Returns the unconfirmed satoshis that others sent to the wallet; they can still be taken back. */
export async function untrustedSat(rest: LndRest): Promise<bigint> {
  return (await unconfirmedTransactions(rest))
    .filter(({ previous_outpoints }) =>
      previous_outpoints.every(({ is_our_output }) => !is_our_output),
    )
    .flatMap(({ output_details }) => output_details)
    .reduce((sum, { is_our_address, amount }) => (is_our_address ? sum + amount : sum), 0n);
}
