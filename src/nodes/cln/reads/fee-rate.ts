import { refused } from '../../../model/errors.ts';
import type { Priority } from '../../../model/payment.ts';
import { CHANNEL_BLOCKS, TARGET_BLOCKS } from '../../remote/orders/onchain-send.ts';
import { type ClnFeerates, feeratesShape } from '../words/chain-wire.ts';
import type { ClnRpc } from './rpc.ts';
import type { ClnOwned, ClnWallet } from './wallet.ts';

/** The node's present fee rate for a send of that priority, in satoshis per 1,000 weight units. */
export function sendSatPerKw({ owner, wallet }: ClnOwned, priority: Priority) {
  return satPerKw(owner, wallet, TARGET_BLOCKS[priority]);
}

/** The node's present fee rate for funding and closing transactions, in satoshis per 1,000 weight units. */
export function channelSatPerKw({ owner, wallet }: ClnOwned) {
  return satPerKw(owner, wallet, CHANNEL_BLOCKS);
}

/** Throws `refused` without estimates, but where coins are worth nothing: such networks often have none. */
async function satPerKw(
  owner: ClnRpc,
  { network }: Pick<ClnWallet, 'network'>,
  blocks: number,
): Promise<bigint> {
  const { perkw } = await owner.read('feerates', { style: 'perkw' }, feeratesShape);
  if (perkw.estimates.length === 0 && network === 'bitcoin') {
    throw refused(
      'Core Lightning has no estimates of fees yet: try again when its Bitcoin node is in sync.',
    );
  }
  return BigInt(rateFor(perkw, blocks));
}

/** The rate for a number of blocks between the node's estimates, as the node itself finds it; pure. */
export function rateFor({ floor, estimates }: ClnFeerates, blocks: number): number {
  const sorted = estimates.toSorted((a, b) => a.blockcount - b.blockcount);
  const before = sorted.findLast(({ blockcount }) => blockcount <= blocks) ?? sorted[0];
  const after = sorted.find(({ blockcount }) => blockcount >= blocks) ?? before;
  if (before === undefined || after === undefined) return floor;
  const span = after.blockcount - before.blockcount;
  const share = span <= 0 ? 0 : (blocks - before.blockcount) / span;
  const rate = before.feerate + (after.feerate - before.feerate) * share;
  return Math.max(Math.ceil(rate), floor);
}
