import { hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { BumpFeeCommand, NodeOnchain } from '../../node.ts';
import { feeSuffices, nothingToRaise } from '../../refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { noChangeLeft, sendNotListed } from '../../remote/orders/onchain-send.ts';
import { virtualBytesOf } from '../../remote/orders/psbt.ts';
import { readCoins } from '../reads/coins.ts';
import { sendSatPerVbyte } from '../reads/fee-rate.ts';
import type { LndRest } from '../reads/rest.ts';
import { recentTransactions } from '../reads/transactions.ts';
import { refusesToBump } from '../words/certainty.ts';
import { anyShape, type LndOutpoint, pendingSweepsShape } from '../words/wire.ts';

/** The most virtual bytes of a child with one P2WPKH or P2TR input and one P2TR output. */
const CHILD_VBYTES = 122n;

interface Child {
  readonly outpoint: LndOutpoint;
  readonly satPerVbyte: bigint;
  /** The most that it may cost, in satoshis. */
  readonly boundSat: bigint;
  /** What an earlier request lets LND's sweeper spend on it, in satoshis; zero without one. */
  readonly sweptForSat: bigint;
}

/** Returns the most that raising the fee costs now, in millisatoshis; see `NodeOnchain.bumpFeeBoundMsat`. */
export async function bumpFeeBoundMsat(owner: LndRest, command: BumpFeeCommand): Promise<bigint> {
  return (await childOf(owner, command)).boundSat * MSAT_PER_SAT;
}

/**
 * Has LND's sweeper spend the change of a send with a fee for both transactions; see `NodeOnchain.bumpFee`. LND decides
 * the fee itself, within the bound, and does not say what it became.
 */
export async function bumpFee(
  owner: LndRest,
  command: Parameters<NodeOnchain['bumpFee']>[0],
): ReturnType<NodeOnchain['bumpFee']> {
  const { outpoint, satPerVbyte, boundSat, sweptForSat } = await childOf(owner, command);
  if (sweptForSat >= boundSat) return { feeMsat: null, isNew: false };
  requireFeeWithin('bump', boundSat * MSAT_PER_SAT, command.maxFeeMsat);
  await owner.post(
    '/v2/wallet/bumpfee',
    {
      outpoint,
      sat_per_vbyte: `${satPerVbyte}`,
      budget: `${boundSat}`,
      immediate: true,
    },
    anyShape,
    { certainty: refusesToBump },
  );
  return { feeMsat: null, isNew: true };
}

/** The child that the send's change pays for. Throws `refused` where the fee suffices, or no change is left. */
async function childOf(owner: LndRest, { txid, priority }: BumpFeeCommand): Promise<Child> {
  const [listed, coins, { pending_sweeps }, rate] = await Promise.all([
    recentTransactions(owner),
    readCoins(owner, 0),
    owner.get('/v2/wallet/sweeps/pending', pendingSweepsShape),
    sendSatPerVbyte(owner, priority),
  ]);
  const parent = listed.find(({ tx_hash }) => tx_hash === txid);
  if (parent === undefined) throw sendNotListed('LND');
  if (parent.num_confirmations > 0) throw nothingToRaise();
  const isOfParent = ({ outpoint }: { readonly outpoint: LndOutpoint }) =>
    outpoint.txid_str === txid;
  const sweep = pending_sweeps.find(isOfParent);
  const outpoint = sweep?.outpoint ?? coins.find(isOfParent)?.outpoint;
  if (outpoint === undefined) throw noChangeLeft();
  const parentVbytes = virtualBytesOf(hex.decode(parent.raw_tx_hex));
  if (parent.total_fees >= rate * parentVbytes) throw feeSuffices();
  const feeSat = rate * (parentVbytes + CHILD_VBYTES) - parent.total_fees;
  const satPerVbyte = (feeSat + CHILD_VBYTES - 1n) / CHILD_VBYTES;
  const boundSat = (satPerVbyte + 1n) * CHILD_VBYTES;
  return { outpoint, satPerVbyte, boundSat, sweptForSat: sweep?.budget ?? 0n };
}
