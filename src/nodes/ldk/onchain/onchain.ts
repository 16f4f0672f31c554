import { hex } from '@scure/base';
import { z } from 'zod';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import { PRIORITIES } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import type { AddressType } from '../../../model/receive.ts';
import type {
  PayOnchainCommand,
  SendOutcome,
  SendQuestion,
  SendReport,
  SignedSend,
} from '../../node.ts';
import { unsupportedBy } from '../../refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import {
  type BegunSend,
  CHANNEL_BLOCKS,
  nothingToSend,
  publishedSend,
  TARGET_BLOCKS,
} from '../../remote/orders/onchain-send.ts';
import { reportOf } from '../../remote/orders/sends.ts';
import { keptRows } from '../../remote/place/kept-rows.ts';
import type { Helper } from '../process/helper.ts';
import type { LdkWallet } from '../process/wallet.ts';
import { type KnownSend, sentPayment } from '../words/translate.ts';
import { type LdkSigned, type LdkTransaction, shapes } from '../words/words.ts';

/** Virtual bytes of a transaction that funds a channel: some inputs, the channel's output and change. */
const FUNDING_VBYTES = 400n;

/**
 * Satoshis per virtual byte, a whole number, with which a transaction is in a block within so many blocks, as the chain
 * source says.
 */
export async function feeRate(helper: Helper, blocks: number): Promise<number> {
  const { sat_per_vbyte } = await helper.call('fee_rate', { blocks }, shapes().feeRate);
  return Math.max(1, Math.ceil(sat_per_vbyte));
}

/** The wallet's receiving address, the same until a payment to it is seen. Throws `unsupported` for taproot. */
export async function nextUnusedAddress({ helper }: LdkWallet, type: AddressType): Promise<string> {
  if (type !== 'segwit') throw unsupportedBy('ldk', 'The LDK node makes segwit addresses alone.');
  return (await helper.call('address', {}, shapes().address)).address;
}

type Order = Pick<PayOnchainCommand, 'address' | 'priority'>;

async function trySign(
  { helper }: LdkWallet,
  { address, priority }: Order,
  amountMsat: bigint | null,
): Promise<LdkSigned> {
  const sat_per_vbyte = await feeRate(helper, TARGET_BLOCKS[priority]);
  const script = hex.encode(address.scriptPubKey);
  return helper.call('sign', { script, amount_msat: amountMsat, sat_per_vbyte }, shapes().signed);
}

/** Chooses coins, checks the fee and signs; see `NodeOnchain.sign`. */
export async function signSend(wallet: LdkWallet, command: PayOnchainCommand): Promise<SignedSend> {
  const signed = await trySign(wallet, command, command.amountMsat);
  const send = signedSend(signed);
  try {
    requireFeeWithin('send', signed.fee_msat, command.maxFeeMsat);
  } catch (error) {
    await releaseSend(wallet, send);
    throw error;
  }
  return send;
}

/** Returns what the wallet keeps of a transaction that the helper signed. */
export function signedSend({ txid, hex: txHex, fee_msat, inputs }: LdkSigned): SignedSend {
  const locks = inputs.map((outpoint) => ({ id: txid, outpoint }));
  return { txid, txHex, feeMsat: `${fee_msat}`, locks };
}

/** Gives back the coins of a send that is not published. */
export async function releaseSend(
  { helper }: LdkWallet,
  { locks }: Pick<SignedSend, 'locks'>,
): Promise<void> {
  await helper.call('release', { inputs: locks.map(({ outpoint }) => outpoint) }, shapes().done);
}

/** Keeps the coins of a signed send from other sends for ten more minutes. */
export async function renewSend({ helper }: LdkWallet, { locks }: SignedSend): Promise<void> {
  const inputs = locks.map(({ outpoint }) => outpoint);
  await helper.call('hold', { inputs }, shapes().done);
}

/**
 * Publishes a signed transaction; see `NodeOnchain.publish`. Which payment it is of is stored first, since the chain
 * does not say.
 */
export async function publishSend(
  wallet: LdkWallet,
  command: PayOnchainCommand,
  signed: SignedSend,
): Promise<SendReport> {
  const asked = { ...command, address: command.address.canonical };
  await keepSend(wallet, signed.txid, asked);
  try {
    await wallet.helper.call('publish', { hex: signed.txHex }, shapes().txid);
    return { state: 'known', ...publishedSend(asked, signed) };
  } catch (error) {
    if (error instanceof ApiError) return reportOf(error);
    throw error;
  }
}

/** Finds out what became of an on-chain send; see `WalletNode.sendOutcome`. */
export async function onchainOutcome(
  wallet: LdkWallet,
  { payment, signed }: SendQuestion,
): Promise<SendOutcome> {
  const txid = signed?.txid ?? payment.txid;
  if (txid === null) return { state: 'unknown' };
  const found = await transactionOf(wallet.helper, txid);
  if (found === null) return { state: 'unknown' };
  const seen = sentPayment(found.transaction, found.height, payment);
  return { state: 'known', payment: seen, attempt: null };
}

/** A transaction of the wallet as it stands, and the height of the chain; null where the wallet has none of that id. */
export async function transactionOf(
  helper: Helper,
  txid: string,
): Promise<{ readonly transaction: LdkTransaction; readonly height: number } | null> {
  const { height, transactions } = await helper.call(
    'transactions',
    { since_height: null, txid },
    shapes().transactions,
  );
  const [transaction] = transactions;
  return transaction === undefined ? null : { transaction, height };
}

/** What a payment would cost in fees now, in millisatoshis. */
export async function estimateFeeMsat(
  wallet: LdkWallet,
  command: Order & Pick<PayOnchainCommand, 'amountMsat'>,
): Promise<bigint> {
  const signed = await trySign(wallet, command, command.amountMsat);
  await releaseSend(wallet, signedSend(signed));
  return signed.fee_msat;
}

/** The most that one transaction can send to the address now, and its fee; see `NodeOnchain.mostSendable`. */
export async function mostSendable(
  wallet: LdkWallet,
  command: Order,
): Promise<{ amountMsat: bigint; feeMsat: bigint }> {
  const signed = await trySign(wallet, command, null).catch((error: unknown) => {
    throw error instanceof ApiError && error.kind === 'refused'
      ? nothingToSend('the LDK node')
      : error;
  });
  await releaseSend(wallet, signedSend(signed));
  return { amountMsat: signed.amount_msat, feeMsat: signed.fee_msat };
}

/** The most that funding a channel would cost in fees now, in millisatoshis. Throws `refused` without the coins. */
export async function openFeeMsat({ helper }: LdkWallet, valueMsat: bigint): Promise<bigint> {
  const info = await helper.call('info', {}, shapes().info);
  const feeMsat = FUNDING_VBYTES * BigInt(await feeRate(helper, CHANNEL_BLOCKS)) * MSAT_PER_SAT;
  const freeMsat = info.onchain_msat - info.reserve_msat;
  if (freeMsat >= valueMsat + feeMsat) return feeMsat;
  throw refused(
    'The confirmed coins of the wallet do not suffice for this channel and its fee: receive more, or open a smaller one.',
  );
}

/** Payments by the id of the transaction that was published for each. */
const SENDS = keptRows(
  'ldk_send',
  z.object({
    index: z.string(),
    amountMsat: z.string().regex(/^\d+$/),
    address: z.string(),
    priority: z.enum(PRIORITIES),
  }),
);

function keepSend(wallet: LdkWallet, txid: string, send: BegunSend): Promise<void> {
  const { index, amountMsat, address, priority } = send;
  if (address === null || priority === null)
    throw new Error('A send has an address and a priority.');
  return SENDS.put(wallet, txid, { index, amountMsat: `${amountMsat}`, address, priority });
}

/** The payment whose transaction it is; null where the sidecar published none of that id. */
export async function keptSend(
  wallet: Pick<LdkWallet, 'rows' | 'userPk'>,
  txid: string,
): Promise<KnownSend | null> {
  const kept = await SENDS.get(wallet, txid);
  if (kept === null) return null;
  return { ...kept, index: kept.index as PaymentIndex, amountMsat: BigInt(kept.amountMsat) };
}
