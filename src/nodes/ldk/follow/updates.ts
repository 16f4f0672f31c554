import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { sleep } from '../../../lib/sleep.ts';
import { ApiError } from '../../../model/errors.ts';
import { isFinal } from '../../../model/payment.ts';
import type { Observation, UpdateBatch, UpdatesOptions } from '../../node.ts';
import { keptSend } from '../onchain/onchain.ts';
import type { LdkWallet } from '../process/wallet.ts';
import { rowObservations, transactionObservations } from '../words/translate.ts';
import { type LdkTransaction, shapes } from '../words/words.ts';

/** Rows of a page. */
const PAGE = 500;
/** Without a word of the helper, its lists are read again after this time. */
const REST_MS = 30_000;
/** More blocks than a reorganization replaces or a payment needs to be final: transactions in them are read again. */
const UNSETTLED_BLOCKS = 20;

const cursorShape = once(() => z.object({ seq: z.int().min(0), height: z.int().min(0) }));

/**
 * Follows the changes of the wallet; see `WalletNode.updates`. The helper numbers each change of a Lightning payment,
 * and says when there is a new one or the chain has moved; what happened is read from its lists, so nothing is missed.
 */
export async function* followWallet(
  wallet: LdkWallet,
  { after, historySinceMs, signal }: UpdatesOptions,
): AsyncGenerator<UpdateBatch> {
  const { helper } = wallet;
  let { seq, height } = readCursor(after);
  const sinceMs = after === null ? (historySinceMs ?? 0) : 0;
  const isWanted = ({ payment }: Observation) =>
    !isFinal(payment) || payment.createdAtMs >= sinceMs;
  const written = () => JSON.stringify({ seq, height });
  /** What was told of each transaction, so that a block without news of it costs nothing. */
  const told = new Map<string, string>();
  let toldCursor = after;
  let isFirst = true;
  let hasEnded = false;
  let news = Promise.withResolvers<void>();
  const forgetChanges = helper.onChange(() => news.resolve());
  const forgetEnds = helper.onEnd(() => {
    hasEnded = true;
    news.resolve();
  });
  try {
    while (!signal.aborted) {
      if (hasEnded) throw new ApiError('unreachable', 'The LDK node ended.');
      news = Promise.withResolvers();
      for (let more = true; more && !signal.aborted; ) {
        const page = await helper.call('rows', { after: seq, limit: PAGE }, shapes().rows);
        more = page.rows.length === PAGE;
        seq = page.rows.at(-1)?.seq ?? seq;
        const observations = page.rows.flatMap(rowObservations).filter(isWanted);
        if (page.rows.length === 0) continue;
        toldCursor = written();
        yield { observations, cursor: toldCursor, caughtUp: false };
        await wallet.noteSeq(seq);
      }
      const chain = await helper.call(
        'transactions',
        { since_height: height === 0 ? null : height, txid: null },
        shapes().transactions,
      );
      const observations = (await readTransactions(wallet, chain, told)).filter(isWanted);
      // A chain that ends below what was read is not the one that was: all of it is read again.
      const wasOther = chain.height < height;
      height = wasOther ? 0 : Math.max(height, chain.height - UNSETTLED_BLOCKS);
      if (isFirst || observations.length > 0 || written() !== toldCursor) {
        toldCursor = written();
        yield { observations, cursor: toldCursor, caughtUp: isFirst };
      }
      isFirst = false;
      if (wasOther) continue;
      const timer = new AbortController();
      await Promise.race([news.promise, sleep(REST_MS, AbortSignal.any([signal, timer.signal]))]);
      timer.abort();
    }
  } finally {
    forgetChanges();
    forgetEnds();
  }
}

/** The payments of transactions of which something else is known than was told. */
async function readTransactions(
  wallet: LdkWallet,
  { height, transactions }: { readonly height: number; readonly transactions: LdkTransaction[] },
  told: Map<string, string>,
): Promise<Observation[]> {
  const observations: Observation[] = [];
  for (const one of transactions) {
    const send = one.sent_msat > 0n ? await keptSend(wallet, one.txid) : null;
    const seen = transactionObservations(one, height, send);
    const known = JSON.stringify([
      one.height,
      one.role,
      one.replaced_by,
      seen.map(({ payment }) => payment.status),
    ]);
    if (told.get(one.txid) === known) continue;
    told.set(one.txid, known);
    observations.push(...seen);
  }
  return observations;
}

function readCursor(text: string | null): { seq: number; height: number } {
  return text === null ? { seq: 0, height: 0 } : cursorShape().parse(JSON.parse(text));
}
