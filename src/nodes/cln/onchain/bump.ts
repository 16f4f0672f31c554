import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { BumpFeeCommand, NodeOnchain } from '../../node-groups.ts';
import { nothingToRaise } from '../../refusals.ts';
import { type FeeChild, feeChild } from '../../remote/orders/fee-child.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { sendNotListed } from '../../remote/orders/onchain-send.ts';
import { feeMsatOf, readChain, spentBy } from '../reads/chain.ts';
import {
  CHANGE_SCRIPT_BYTES,
  CORE_WEIGHT,
  outpointOf,
  satOf,
  startWeight,
  weightOf,
} from '../reads/coins.ts';
import { sendSatPerKw } from '../reads/fee-rate.ts';
import type { ClnHandle, ClnOwned } from '../reads/wallet.ts';
import { anyRefusal } from '../words/certainty.ts';
import { type ClnTransaction, psbtShape } from '../words/chain-wire.ts';
import { choosingAgain } from '../words/choosing-again.ts';
import type { ClnOutput } from '../words/wire.ts';
import { publish } from './onchain.ts';
import { releaseReservations } from './reservations.ts';
import { SIGN_TIMEOUT_MS, signedSpend, wrongTransaction } from './spend.ts';

interface Child extends FeeChild {
  readonly coin: ClnOutput;
}

/** The most that raising the fee costs now, in millisatoshis; see `NodeOnchain.bumpFeeBoundMsat`. */
export async function bumpFeeBoundMsat(node: ClnOwned, command: BumpFeeCommand): Promise<bigint> {
  const child = await childOf(node, command);
  return (child?.feeSat ?? 0n) * MSAT_PER_SAT;
}

/** Spends the change of a send with a fee for both transactions; see `NodeOnchain.bumpFee`. */
export function bumpFee(
  { rpc, owner, wallet }: ClnHandle,
  command: Parameters<NodeOnchain['bumpFee']>[0],
): ReturnType<NodeOnchain['bumpFee']> {
  const { maxFeeMsat } = command;
  const make = async () => {
    const child = await childOf({ owner, wallet }, command);
    if (child === null) return { feeMsat: null, isNew: false };
    const { coin, satPerKw } = child;
    requireFeeWithin('bump', child.feeSat * MSAT_PER_SAT, maxFeeMsat);
    const request = {
      satoshi: '0sat',
      feerate: `${satPerKw}perkw`,
      startweight: Number(CORE_WEIGHT),
      utxos: [outpointOf(coin)],
      excess_as_change: true,
    };
    const signed = await signedSpend(rpc, owner, {
      coins: [coin],
      prepare: () =>
        rpc.write('utxopsbt', request, psbtShape, {
          timeoutMs: SIGN_TIMEOUT_MS,
          certainty: anyRefusal,
        }),
      check({ outputs, feeSat }) {
        if (outputs.length !== 1) throw wrongTransaction();
        requireFeeWithin('bump', feeSat * MSAT_PER_SAT, maxFeeMsat);
      },
    });
    try {
      await publish(rpc, signed.txHex);
    } catch (error) {
      // A child that the node lists is published. Otherwise another one may be tried: two of one coin cannot both
      // confirm.
      const isOut = (await readChain(owner).catch(() => null))?.transactions.has(signed.txid);
      if (isOut === false) {
        // If the release fails, the reservation ends by itself.
        await releaseReservations(owner, [outpointOf(coin)]).catch(() => undefined);
      }
      if (!isOut) throw error;
    }
    return { feeMsat: BigInt(signed.feeMsat), isNew: true };
  };
  return wallet.locks.run('coins', () => choosingAgain(make));
}

/** The child of a send; null where one that pays as much is there. Throws `refused` where it cannot be raised. */
async function childOf(node: ClnOwned, { txid, priority }: BumpFeeCommand): Promise<Child | null> {
  const [chain, satPerKw] = await Promise.all([
    readChain(node.owner),
    sendSatPerKw(node, priority),
  ]);
  const parent = chain.transactions.get(txid);
  if (parent === undefined) throw sendNotListed('Core Lightning');
  if (parent.blockheight > 0) throw nothingToRaise();
  const unconfirmed = (transaction: ClnTransaction) => ({
    txid: transaction.hash,
    txHex: transaction.rawtx,
    feeSat: (feeMsatOf(transaction, chain) ?? 0n) / MSAT_PER_SAT,
    spends: spentBy(transaction).filter((outpoint) => chain.coins.has(outpoint)),
  });
  const others = [...chain.transactions.values()].filter(({ blockheight }) => blockheight === 0);
  const coins = [...chain.coins.values()].filter(({ status }) => status === 'unconfirmed');
  const child = feeChild(
    unconfirmed(parent),
    others.map(unconfirmed),
    coins.map((coin) => ({
      outpoint: outpointOf(coin),
      amountSat: satOf(coin),
      isReserved: coin.reserved,
      childWeight: startWeight(CHANGE_SCRIPT_BYTES) + (weightOf(coin) ?? 0n),
    })),
    satPerKw,
  );
  const coin = child && chain.coins.get(child.outpoint);
  return coin ? { ...child, coin } : null;
}
