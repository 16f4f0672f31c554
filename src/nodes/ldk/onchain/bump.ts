import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { BumpFeeCommand, NodeOnchain } from '../../node-groups.ts';
import { nothingToRaise } from '../../refusals.ts';
import { type FeeChild, feeChild } from '../../remote/orders/fee-child.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { sendNotListed, TARGET_BLOCKS } from '../../remote/orders/onchain-send.ts';
import { spentOutpoints } from '../../remote/orders/psbt.ts';
import type { LdkWallet } from '../process/wallet.ts';
import { type LdkTransaction, shapes } from '../words/words.ts';
import { feeRate, releaseSend, signedSend } from './onchain.ts';

/** Weight of a transaction with one P2WPKH input and one P2WPKH output, the longest signature counted. */
const CHILD_WEIGHT = 440n;
/** A kiloweight is 250 virtual bytes. */
const VBYTES_OF_KW = 250n;

/** Returns the most that raising the fee costs now, in millisatoshis; see `NodeOnchain.bumpFeeBoundMsat`. */
export async function bumpFeeBoundMsat(
  wallet: LdkWallet,
  command: BumpFeeCommand,
): Promise<bigint> {
  return ((await childOf(wallet, command))?.feeSat ?? 0n) * MSAT_PER_SAT;
}

/** Spends the change of a send with a fee for both transactions; see `NodeOnchain.bumpFee`. */
export async function bumpFee(
  wallet: LdkWallet,
  command: Parameters<NodeOnchain['bumpFee']>[0],
): ReturnType<NodeOnchain['bumpFee']> {
  const child = await childOf(wallet, command);
  if (child === null) return { feeMsat: null, isNew: false };
  const feeMsat = child.feeSat * MSAT_PER_SAT;
  requireFeeWithin('bump', feeMsat, command.maxFeeMsat);
  const { helper } = wallet;
  const order = { coin: child.outpoint, fee_msat: feeMsat };
  const signed = await helper.call('sign_child', order, shapes().signed);
  try {
    await helper.call('publish', { hex: signed.hex }, shapes().txid);
  } catch (error) {
    // Another child may be tried, whatever became of this one: two of one coin cannot both confirm. If the release
    // fails, the coin comes back by itself.
    await releaseSend(wallet, signedSend(signed)).catch(() => undefined);
    throw error;
  }
  return { feeMsat, isNew: true };
}

/**
 * The child that a send needs; null where one that pays as much is there. Throws `refused` where there is nothing to
 * raise, or nothing that could pay for it.
 */
async function childOf(
  { helper }: LdkWallet,
  { txid, priority }: BumpFeeCommand,
): Promise<FeeChild | null> {
  const [{ transactions }, { coins }, satPerVbyte] = await Promise.all([
    helper.call('transactions', { since_height: null, txid: null }, shapes().transactions),
    helper.call('coins', {}, shapes().coins),
    feeRate(helper, TARGET_BLOCKS[priority]),
  ]);
  const send = transactions.find((one) => one.txid === txid && one.replaced_by === null);
  if (send === undefined) throw sendNotListed('The LDK node');
  if (send.height !== null) throw nothingToRaise();
  const waiting = transactions.filter((one) => one.height === null && one.replaced_by === null);
  return feeChild(
    unconfirmed(send),
    waiting.map(unconfirmed),
    coins.map(({ outpoint, amount_msat, locked }) => ({
      ...{ outpoint, amountSat: amount_msat / MSAT_PER_SAT },
      ...{ isReserved: locked, childWeight: CHILD_WEIGHT },
    })),
    BigInt(satPerVbyte) * VBYTES_OF_KW,
  );
}

function unconfirmed({ txid, hex, fee_msat, sent_msat }: LdkTransaction) {
  return {
    ...{ txid, txHex: hex, feeSat: (fee_msat ?? 0n) / MSAT_PER_SAT },
    spends: sent_msat > 0n ? spentOutpoints(hex) : [],
  };
}
