import { base64, hex } from '@scure/base';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import type { AddressType } from '../../../model/receive.ts';
import { FINAL_CONFIRMATIONS } from '../../../model/transaction.ts';
import type { Observation, PayOnchainCommand, SendReport, SignedSend } from '../../node.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { blankSend, publishedSend, TARGET_BLOCKS } from '../../remote/orders/onchain-send.ts';
import {
  type FundedTransaction,
  isSameTransaction,
  paidSatOf,
  pays,
  readPsbt,
  spentOutpoints,
  txidOf,
} from '../../remote/orders/psbt.ts';
import { reportOf } from '../../remote/orders/sends.ts';
import { readCoins } from '../reads/coins.ts';
import { standing, withSendLabels } from '../reads/fee-bump.ts';
import { sendSatPerVbyte } from '../reads/fee-rate.ts';
import { giveBack, orTellingLocks, releaseAll, tellingLocks, withLocks } from '../reads/leases.ts';
import type { LndRest } from '../reads/rest.ts';
import { listedTransactions, untrustedSat } from '../reads/transactions.ts';
import type { LndHandle, LndOwned } from '../reads/wallet.ts';
import { refusesToPublish } from '../words/certainty.ts';
import { labelOf } from '../words/replaced.ts';
import type { BumpableSend } from '../words/same-label.ts';
import { transactionPayments } from '../words/translate.ts';
import {
  addressShape,
  feeEstimateShape,
  finalizedPsbtShape,
  type LndTransaction,
  publishedShape,
  walletBalanceShape,
} from '../words/wire.ts';
import { fund, SEND_TIMEOUT_MS } from './fund.ts';
import { mostOf } from './send-all.ts';

/** LND's numbers of its address types UNUSED_WITNESS_PUBKEY_HASH and UNUSED_TAPROOT_PUBKEY. */
const UNUSED: Readonly<Record<AddressType, number>> = { segwit: 2, taproot: 5 };

/** Returns the wallet's receiving address of that type, the same until a payment to it is seen. */
export async function nextUnusedAddress(rest: LndRest, type: AddressType): Promise<string> {
  return (await rest.get(`/v1/newaddress?type=${UNUSED[type]}`, addressShape)).address;
}

/** See `NodeOnchain.sign`. The locks are kept until {@link publishSend} or {@link releaseSend}. */
export async function signSend(node: LndHandle, command: PayOnchainCommand): Promise<SignedSend> {
  const { coinLocks } = node.wallet;
  const id = coinLocks.idOf(command);
  coinLocks.keep(id);
  try {
    return await fundedAndSigned(node, command);
  } catch (error) {
    coinLocks.letGo(id);
    throw error;
  }
}

async function fundedAndSigned(
  { rest, owner, wallet }: LndHandle,
  command: PayOnchainCommand,
): Promise<SignedSend> {
  const { psbt, locks } = await fund({ rest, owner, wallet }, command);
  try {
    const funded = readFunded(psbt);
    await requireAffordable({ owner, wallet }, command, funded);
    const { raw_final_tx: txHex } = await rest.post(
      '/v2/wallet/psbt/finalize',
      { funded_psbt: psbt },
      finalizedPsbtShape,
      { timeoutMs: SEND_TIMEOUT_MS },
    );
    if (!isSameTransaction(funded, txHex)) {
      throw new ApiError(
        'unreadable',
        'LND signed another transaction than the one that it funded. Nothing was sent: check the node.',
      );
    }
    return { txid: txidOf(txHex), txHex, feeMsat: `${funded.feeSat * MSAT_PER_SAT}`, locks };
  } catch (error) {
    await giveBack({ owner, wallet }, locks);
    throw error;
  }
}

/** Gives back the coins of a send that is not published; see `NodeOnchain.release`. */
export async function releaseSend(node: LndOwned, { locks }: SignedSend): Promise<void> {
  for (const { id } of locks) node.wallet.coinLocks.letGo(id);
  await giveBack(node, locks);
}

/**
 * Publishes a signed transaction with the payment's id as its label; see `NodeOnchain.publish`. LND's list is read just
 * before: another sidecar may have sent for the same client_payment_id meanwhile, and the two share no idempotence
 * (docs/decisions.md 153).
 */
export async function publishSend(
  { rest, owner, wallet }: LndHandle,
  command: PayOnchainCommand,
  signed: SignedSend,
): Promise<SendReport> {
  wallet.coinLocks.letGo(wallet.coinLocks.idOf(command));
  const asked = { ...command, address: command.address.canonical };
  const own = { payment: asked, txid: signed.txid, outpoints: spentOutpoints(signed.txHex) };
  const knownBy = (sent: LndTransaction): SendReport => {
    endLocks(owner, signed);
    return { state: 'known', ...sentObservation(sent, asked, wallet.clock.now()) };
  };
  try {
    const listed = await listedTransactions(owner, FINAL_CONFIRMATIONS);
    const before = ownAmong(listed, own) ?? sameLabelAmong(listed, own);
    if (before) return knownBy(before);
    const { publish_error } = await rest.post(
      '/v2/wallet/tx',
      { tx_hex: base64.encode(hex.decode(signed.txHex)), label: labelOf(command) },
      publishedShape,
      { timeoutMs: SEND_TIMEOUT_MS, certainty: refusesToPublish },
    );
    if (publish_error === '') {
      endLocks(owner, signed);
      return { state: 'known', ...publishedSend(asked, signed) };
    }
    throw new ApiError('unreadable', `LND could not publish: ${publish_error}.`, {
      outcomeUnknown: true,
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!error.outcomeUnknown) return reportOf(error);
    // LND reports the same error for a transaction that the network has already and for one that it does not accept.
    // The wallet's own list tells them apart.
    const sent = ownAmong(await listedTransactions(owner).catch(() => []), own);
    return sent === null ? reportOf(error) : knownBy(sent);
  }
}

/** The transaction of the send, or its fee bump, as it stands; null when it is not listed. */
function ownAmong(listed: readonly LndTransaction[], own: BumpableSend): LndTransaction | null {
  const label = labelOf(own.payment);
  const stands = standing(withSendLabels(listed, [own]), [own]);
  return stands.find((one) => one.label === label) ?? null;
}

/** Another sidecar's transaction for that client_payment_id, or null. Throws `refused` for another payment. */
function sameLabelAmong(
  listed: readonly LndTransaction[],
  { payment }: BumpableSend,
): LndTransaction | null {
  const other = listed.find(({ label }) => label === labelOf(payment));
  if (other === undefined) return null;
  const isSame = other.output_details.some(
    ({ address, amount }) =>
      address.toLowerCase() === payment.address?.toLowerCase() &&
      amount * MSAT_PER_SAT === payment.amountMsat,
  );
  if (isSame) return other;
  throw refused(
    'Another sidecar on this LND has sent another payment for this client_payment_id: use a new one.',
  );
}

/** Ends the locks of a published send, which LND counts as locked otherwise. Nothing waits for it; they end anyway. */
function endLocks(owner: LndRest, { locks }: SignedSend): void {
  void releaseAll(owner, locks).catch(() => undefined);
}

/** Returns the observation of a send that a transaction in LND's list gives. */
export function sentObservation(
  transaction: LndTransaction,
  asked: Pick<Payment, 'index' | 'createdAtMs' | 'amountMsat' | 'address' | 'priority'>,
  nowMs: number,
): Observation {
  const { index, createdAtMs, priority, address, amountMsat } = asked;
  const [seen] = transactionPayments(transaction, nowMs);
  const payment = seen ?? blankSend(asked, transaction.tx_hash);
  return {
    payment: {
      ...payment,
      // LND's list shows no amount for coins that the wallet sent to itself.
      amountMsat: amountMsat ?? payment.amountMsat,
      index,
      createdAtMs,
      priority,
      address,
    },
    attempt: null,
  };
}

/** Returns what a payment would cost in fees now, in millisatoshis. */
export async function estimateFeeMsat(
  owner: LndRest,
  command: Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>,
): Promise<bigint> {
  const query = new URLSearchParams({
    [`AddrToAmount[${command.address.canonical}]`]: `${wholeSats(command.amountMsat)}`,
    target_conf: `${TARGET_BLOCKS[command.priority]}`,
    spend_unconfirmed: `${(await untrustedSat(owner)) === 0n}`,
  });
  const { fee_sat } = await owner
    .get(`/v1/transactions/fee?${query}`, feeEstimateShape)
    .catch(async (error: unknown) => {
      throw await withLocks(owner, error);
    });
  return fee_sat * MSAT_PER_SAT;
}

/** Returns the most that one transaction can send to the address now, and its fee; see `NodeOnchain.mostSendable`. */
export async function mostSendable(
  owner: LndRest,
  { address, priority }: Pick<PayOnchainCommand, 'address' | 'priority'>,
): Promise<{ amountMsat: bigint; feeMsat: bigint }> {
  const minConfs = (await untrustedSat(owner)) === 0n ? 0 : 1;
  const [coins, rate, balance] = await Promise.all([
    readCoins(owner, minConfs),
    sendSatPerVbyte(owner, priority),
    owner.get('/v1/balance/blockchain', walletBalanceShape),
  ]);
  const order = {
    script: address.scriptPubKey,
    satPerVbyte: rate,
    keptSat: balance.reserved_balance_anchor_chan,
  };
  const { amountSat, feeSat } = await orTellingLocks(owner, () => mostOf(coins, order));
  return { amountMsat: amountSat * MSAT_PER_SAT, feeMsat: feeSat * MSAT_PER_SAT };
}

function readFunded(psbt: string): FundedTransaction {
  try {
    return readPsbt(psbt);
  } catch (cause) {
    throw new ApiError(
      'unreadable',
      'LND funded a transaction that cannot be read. Nothing was sent: check the version of LND.',
      { cause },
    );
  }
}

async function requireAffordable(
  { owner, wallet: { network, coinLocks } }: LndOwned,
  command: PayOnchainCommand,
  funded: FundedTransaction,
): Promise<void> {
  const { address, amountMsat, maxFeeMsat } = command;
  const amountSat = wholeSats(amountMsat);
  if (!pays(funded, address.canonical, amountSat, network)) {
    throw new ApiError(
      'unreadable',
      'LND funded another payment than the one asked for. Nothing was sent: check the node.',
    );
  }
  requireFeeWithin('send', funded.feeSat * MSAT_PER_SAT, maxFeeMsat);
  const balance = await owner.get('/v1/balance/blockchain', walletBalanceShape);
  // The balance leaves out the coins that are locked now. What they hold above the payment and the fee comes back as
  // change.
  const leftSat = balance.total_balance + paidSatOf(funded) - amountSat;
  if (leftSat < balance.reserved_balance_anchor_chan) {
    const lack = refused(
      `LND keeps ${balance.reserved_balance_anchor_chan} sats back for its channels: send less.`,
    );
    throw await tellingLocks(owner, lack, coinLocks.idOf(command));
  }
}
