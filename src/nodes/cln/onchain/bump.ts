import { hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { BumpFeeCommand, NodeOnchain } from '../../node-groups.ts';
import { feeSuffices, nothingToRaise } from '../../refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { noChangeLeft, sendNotListed } from '../../remote/orders/onchain-send.ts';
import { weightOf as weightOfRaw } from '../../remote/orders/psbt.ts';
import { type Chain, feeMsatOf, readChain } from '../reads/chain.ts';
import {
  CHANGE_SCRIPT_BYTES,
  CORE_WEIGHT,
  feeSatOf,
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

/** An unconfirmed send with the children that pay for it already. */
interface Family {
  readonly weight: bigint;
  readonly feeSat: bigint;
  readonly hasChild: boolean;
  /** An output of the last one that is the wallet's, not a reserved one where there is another. */
  readonly coin: ClnOutput | undefined;
}

/** A further child. */
interface Child {
  readonly coin: ClnOutput;
  readonly satPerKw: bigint;
  /** What it costs, in satoshis. */
  readonly feeSat: bigint;
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

/**
 * The child that a send needs; null where one that pays as much is there. Throws `refused` where the fee of the send
 * itself suffices, or there is no change left.
 */
async function childOf(node: ClnOwned, { txid, priority }: BumpFeeCommand): Promise<Child | null> {
  const [chain, satPerKw] = await Promise.all([
    readChain(node.owner),
    sendSatPerKw(node, priority),
  ]);
  const parent = chain.transactions.get(txid);
  if (parent === undefined) throw sendNotListed('Core Lightning');
  if (parent.blockheight > 0) throw nothingToRaise();
  const { weight, feeSat, hasChild, coin } = familyOf(parent, chain);
  if (feeSat >= feeSatOf(weight, satPerKw)) {
    if (hasChild) return null;
    throw feeSuffices();
  }
  if (coin === undefined) throw noChangeLeft();
  if (coin.reserved) {
    throw refused(
      'The change of the transaction is reserved for something else: try again when that is over.',
    );
  }
  const childWeight = startWeight(CHANGE_SCRIPT_BYTES) + (weightOf(coin) ?? 0n);
  const wantedSat = feeSatOf(weight + childWeight, satPerKw) - feeSat;
  const childSatPerKw = (wantedSat * 1000n + childWeight - 1n) / childWeight;
  const childFeeSat = feeSatOf(childWeight, childSatPerKw);
  if (satOf(coin) <= childFeeSat) {
    throw refused('The change of the transaction does not pay for a higher fee.');
  }
  return { coin, satPerKw: childSatPerKw, feeSat: childFeeSat };
}

/** A send and the unconfirmed transactions of the wallet that spend its change, each that of the one before. */
function familyOf(parent: ClnTransaction, chain: Chain): Family {
  const all = [...chain.transactions.values()];
  let last = parent;
  let weight = weightOfTransaction(parent);
  let feeMsat = feeMsatOf(parent, chain) ?? 0n;
  for (;;) {
    const { hash } = last;
    const child = all.find(
      ({ inputs, blockheight }) =>
        blockheight === 0 &&
        inputs.some(({ txid, index }) => txid === hash && chain.coins.has(`${txid}:${index}`)),
    );
    if (child === undefined) break;
    weight += weightOfTransaction(child);
    feeMsat += feeMsatOf(child, chain) ?? 0n;
    last = child;
  }
  const [coin] = [...chain.coins.values()]
    .filter(({ txid, status }) => txid === last.hash && status === 'unconfirmed')
    .toSorted((a, b) => Number(a.reserved) - Number(b.reserved));
  return { weight, feeSat: feeMsat / MSAT_PER_SAT, hasChild: last !== parent, coin };
}

function weightOfTransaction({ rawtx }: ClnTransaction): bigint {
  return weightOfRaw(hex.decode(rawtx));
}
