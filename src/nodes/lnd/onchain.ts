import { MSAT_PER_SAT, wholeSats } from '../../model/amount.ts';
import { ApiError, refused } from '../../model/errors.ts';
import { idOf, type Payment, type Priority } from '../../model/payment.ts';
import { idOfIndex, type PaymentId } from '../../model/payment-index.ts';
import type { PayOnchainCommand } from '../node.ts';
import type { LndRest } from './rest.ts';
import { sendLabel, transactionPayments } from './translate.ts';
import type { LndWallet } from './wallet.ts';
import {
  addressShape,
  feeEstimateShape,
  infoShape,
  type LndTransaction,
  sentCoinsShape,
  transactionsShape,
} from './wire.ts';

/** Blocks within which a transaction of each priority should be confirmed (contract, Limits). */
const TARGET_BLOCKS: Readonly<Record<Priority, number>> = { high: 1, normal: 3, background: 72 };
/** How far back a transaction is looked for: about two weeks. */
const RECENT_BLOCKS = 2016;
/** Type of a P2WPKH address that is the same until it is used (LND's UNUSED_WITNESS_PUBKEY_HASH). */
const UNUSED_P2WPKH = 2;
/** Choosing coins and signing takes LND longer than other calls. */
const SEND_TIMEOUT_MS = 60_000;

/** The same address until a payment to it is seen. */
export async function nextUnusedAddress(rest: LndRest): Promise<string> {
  return (await rest.get(`/v1/newaddress?type=${UNUSED_P2WPKH}`, addressShape)).address;
}

/**
 * Sends once for an id: the transaction carries the id in its label, which is looked for first, since LND itself
 * would send again. The caller must hold a lock on the id.
 */
export async function payOnchain(
  rest: LndRest,
  wallet: LndWallet,
  command: PayOnchainCommand,
): Promise<Payment> {
  const clientPaymentId = idOfIndex(command.index).slice('os_'.length);
  const label = sendLabel(clientPaymentId);
  const known = await recent(rest);
  const before = known.find((transaction) => transaction.label === label);
  if (before) return sentPayment(before, wallet, command);
  // LND cannot tell coins of its own making from what others sent: either all unconfirmed ones are spent, or none.
  const spend_unconfirmed = foreignUnconfirmedSat(known) === 0n;
  const { feeSat, satPerVbyte } = await estimate(rest, command, spend_unconfirmed);
  if (command.maxFeeMsat !== null && feeSat * MSAT_PER_SAT > command.maxFeeMsat) {
    throw refused(`The transaction would cost ${feeSat} sats, more than is allowed.`);
  }
  await rest.post(
    '/v1/transactions',
    {
      addr: command.address,
      amount: `${wholeSats(command.amountMsat)}`,
      // The rate that was estimated, so that the fee is the one that was checked.
      sat_per_vbyte: `${satPerVbyte}`,
      label,
      spend_unconfirmed,
    },
    sentCoinsShape,
    { timeoutMs: SEND_TIMEOUT_MS },
  );
  const sent = (await recent(rest)).find((transaction) => transaction.label === label);
  if (sent) return sentPayment(sent, wallet, command);
  throw new ApiError('unreadable', 'LND sent the transaction and does not show it: look again.', {
    outcomeUnknown: true,
  });
}

/** What a payment would cost now, millisatoshis. */
export async function estimateFeeMsat(
  rest: LndRest,
  command: Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>,
): Promise<bigint> {
  const trusted = foreignUnconfirmedSat(await unconfirmed(rest)) === 0n;
  return (await estimate(rest, command, trusted)).feeSat * MSAT_PER_SAT;
}

/** The on-chain payment of that id among the recent ones, or null. */
export async function onchainPayment(
  rest: LndRest,
  wallet: LndWallet,
  id: PaymentId,
): Promise<Payment | null> {
  const nowMs = wallet.clock.now();
  const payments = (await recent(rest)).flatMap((one) => transactionPayments(one, nowMs));
  return payments.find((payment) => idOf(payment) === id) ?? null;
}

/** Transactions confirmed at `startHeight` or above, and all unconfirmed ones. */
export async function transactionsSince(
  rest: LndRest,
  startHeight: number,
): Promise<readonly LndTransaction[]> {
  const path = `/v1/transactions?start_height=${startHeight}&end_height=-1`;
  return (await rest.get(path, transactionsShape)).transactions;
}

async function recent(rest: LndRest): Promise<readonly LndTransaction[]> {
  const { block_height } = await rest.get('/v1/getinfo', infoShape);
  return transactionsSince(rest, Math.max(0, block_height - RECENT_BLOCKS));
}

/** What others have sent and no block has confirmed, satoshis: it may still be taken back. */
export async function untrustedSat(rest: LndRest): Promise<bigint> {
  return foreignUnconfirmedSat(await unconfirmed(rest));
}

async function unconfirmed(rest: LndRest): Promise<readonly LndTransaction[]> {
  // LND lists unconfirmed transactions alone when asked for what is confirmed at height -1 and above.
  return (await rest.get('/v1/transactions?start_height=-1&end_height=-1', transactionsShape))
    .transactions;
}

function foreignUnconfirmedSat(transactions: readonly LndTransaction[]): bigint {
  return transactions
    .filter(
      ({ num_confirmations, previous_outpoints }) =>
        num_confirmations === 0 && previous_outpoints.every(({ is_our_output }) => !is_our_output),
    )
    .flatMap(({ output_details }) => output_details)
    .reduce((sum, { is_our_address, amount }) => (is_our_address ? sum + amount : sum), 0n);
}

function sentPayment(
  transaction: LndTransaction,
  wallet: LndWallet,
  { index, createdAtMs, priority, address, amountMsat }: PayOnchainCommand,
): Payment {
  const [payment] = transactionPayments(transaction, wallet.clock.now());
  if (payment === undefined) throw new Error('a labeled transaction is a payment');
  return {
    ...payment,
    amountMsat: payment.amountMsat ?? amountMsat,
    index,
    createdAtMs,
    priority,
    address,
  };
}

async function estimate(
  rest: LndRest,
  command: Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>,
  spendUnconfirmed: boolean,
): Promise<{ feeSat: bigint; satPerVbyte: bigint }> {
  const query = new URLSearchParams({
    [`AddrToAmount[${command.address}]`]: `${wholeSats(command.amountMsat)}`,
    target_conf: `${TARGET_BLOCKS[command.priority]}`,
    spend_unconfirmed: `${spendUnconfirmed}`,
  });
  const answer = await rest.get(`/v1/transactions/fee?${query}`, feeEstimateShape);
  return { feeSat: answer.fee_sat, satPerVbyte: answer.sat_per_vbyte };
}
