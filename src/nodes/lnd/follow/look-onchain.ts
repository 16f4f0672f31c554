import { idOf, isFinal, type Payment } from '../../../model/payment.ts';
import { LND_LOCK_ID } from '../reads/coin-locks.ts';
import { labelBumps, standing, withSendLabels } from '../reads/fee-bump.ts';
import { giveBack, lockedText, readLeases } from '../reads/leases.ts';
import { transactionRowsSince } from '../reads/transactions.ts';
import type { Found } from '../words/cursor.ts';
import { outpointsOf, replacedPayment } from '../words/replaced.ts';
import type { BumpableSend } from '../words/same-label.ts';
import { transactionObservations } from '../words/translate.ts';
import { infoShape, type LndTransaction, transactionShape } from '../words/wire.ts';
import { type Look, readRows } from './look.ts';

/** More blocks than a reorganization replaces or a payment needs to be final: transactions in them are read again. */
const UNSETTLED_BLOCKS = 20;
/** Blocks come more slowly than this on average. */
const FASTEST_BLOCKS_MS = 5 * 60_000;

/** Reads the transactions since the cursor, and what stands in the place of those that are not final. */
export async function* transactions(look: Look): AsyncGenerator<Found> {
  const { rest, wallet, cursor, sinceMs, spends, listLag } = look;
  const { block_height, synced_to_chain } = await rest.get('/v1/getinfo', infoShape);
  const rows = await transactionRowsSince(rest, cursor.height);
  const read = readRows(look, rows, transactionShape, (one) => [one]);
  listLag.read(read, synced_to_chain);
  const unfinished = await withoutLostLocks(look);
  const sends = unfinished.filter(({ direction }) => direction === 'outbound');
  const receipts = unfinished.filter(({ direction }) => direction === 'inbound');
  const fees = unfinished.filter(({ direction }) => direction === 'info');
  const bumpableSends = sends.flatMap(bumpable);
  const labeled = withSendLabels(read, bumpableSends);
  await labelBumps(rest, read, labeled);
  const listed = standing(labeled, bumpableSends, wasToldAt(cursor.height));
  const nowMs = wallet.clock.now();
  const unconfirmed = receipts.filter(({ txid }) => !isInBlock(txid, listed));
  spends.follow(
    unconfirmed.toReversed().flatMap(outpointsOf),
    unspentAt(unconfirmed, { block_height, readFrom: cursor.height, nowMs }),
  );
  const bound = cursor.height === 0 ? (sinceMs ?? 0) : 0;
  const seen = wallet.labels
    .withFinalLabel(listed)
    .flatMap((one) => transactionObservations(one, nowMs))
    .filter(({ payment }) => !isFinal(payment) || payment.createdAtMs >= bound);
  const spenders = [...listed, ...spends.spenders(block_height)];
  // A row of fees follows the child that stands in the place of its own and spends the same first coin.
  const shown = new Set(seen.map(({ payment }) => idOf(payment)));
  const contested = [...sends, ...receipts, ...fees.filter((one) => !shown.has(idOf(one)))];
  yield {
    observations: [
      ...seen,
      ...contested.flatMap((one) => replacedPayment(one, spenders, nowMs) ?? []),
    ],
    reached: { height: Math.max(0, newestHeight(read, block_height) - UNSETTLED_BLOCKS) },
  };
}

/**
 * The newest block of which the list tells. Blocks may arrive between LND's word on its height and the list: what is
 * told of them must not be taken for untold by the next look.
 */
function newestHeight(listed: readonly LndTransaction[], knownHeight: number): number {
  return listed
    .filter(({ num_confirmations }) => num_confirmations > 0)
    .reduce((newest, { block_height }) => Math.max(newest, block_height), knownHeight);
}

function bumpable(payment: Payment): BumpableSend[] {
  const { txid } = payment;
  return txid === null ? [] : [{ payment, txid, outpoints: outpointsOf(payment) }];
}

/**
 * Returns whether a transaction was in a block already when the look before this one read the list. Its payment was
 * told then, so it is unfinished in the store, or over.
 */
function wasToldAt(cursorHeight: number): (transaction: LndTransaction) => boolean {
  const lastHeight = cursorHeight === 0 ? 0 : cursorHeight + UNSETTLED_BLOCKS;
  return ({ num_confirmations, block_height }) =>
    num_confirmations > 0 && block_height <= lastHeight;
}

function isInBlock(txid: string | null, listed: readonly LndTransaction[]): boolean {
  return listed.some(({ tx_hash, num_confirmations }) => tx_hash === txid && num_confirmations > 0);
}

/**
 * A height at which the coins of these receipts were not spent. The last read of the list, and its watch of the coins,
 * reached some blocks beyond `readFrom`. Receipts from before the coins were watched can be older.
 */
function unspentAt(
  receipts: readonly Payment[],
  at: { readonly block_height: number; readonly readFrom: number; readonly nowMs: number },
): number {
  const oldestMs = receipts.reduce((least, one) => Math.min(least, one.createdAtMs), at.nowMs);
  const height = at.block_height - Math.ceil((at.nowMs - oldestMs) / FASTEST_BLOCKS_MS);
  return at.readFrom === 0 ? height : Math.min(height, at.readFrom);
}

/**
 * Releases the locks of this installation that no send has, where there may be any: those of a process that was killed,
 * and of requests that arrived after they were given up (docs/decisions.md 152). A send has them while this process
 * makes it, and while the store has it unfinished. Returns the unfinished
 * payments on chain. A lost lock under LND's own id is logged, and ends by itself.
 */
async function withoutLostLocks(look: Look): Promise<readonly Payment[]> {
  const { rest, wallet, log } = look;
  const { coinLocks } = wallet;
  const untold = coinLocks.takeUntold();
  // In this order: a send is kept before it locks coins, and let go after the store shows it.
  const leases = untold || coinLocks.mayBeLost ? await readLeases(rest) : [];
  const { kept } = coinLocks;
  const unfinished = (await look.open('onchain')).filter(({ rail }) => rail === 'onchain');
  const needed = new Set([...kept, ...unfinished.map((payment) => coinLocks.idOf(payment))]);
  const lost = leases.filter(({ id }) => coinLocks.owns(id) && !needed.has(id));
  await giveBack({ owner: rest, wallet }, lost);
  const ofLnd = leases.filter(({ id }) => id === LND_LOCK_ID);
  if (untold && ofLnd.length > 0) {
    log.warn(
      `The answer to a choice of coins was lost, and LND before 0.19 names nobody in its locks. ${lockedText(ofLnd)}`,
      { walletId: wallet.userPk },
    );
  }
  return unfinished;
}
