import { z } from 'zod';
import { hex32, msat } from './wire.ts';

/** The shapes of Core Lightning's answers about transactions, as far as they are read. */

const hexText = z.string().regex(/^([0-9a-f]{2})*$/);
const outpoint = z.string().regex(/^[0-9a-f]{64}:\d+$/);

/** `feerates`, in satoshis per 1,000 weight units */
export const feeratesShape = z.object({
  perkw: z.object({
    floor: z.int().positive(),
    estimates: z.array(z.object({ blockcount: z.int().positive(), feerate: z.int().positive() })),
  }),
});
export type ClnFeerates = z.output<typeof feeratesShape>['perkw'];

/** `txprepare` and `utxopsbt` */
export const psbtShape = z.object({ psbt: z.string() });

/** `signpsbt` */
export const signedPsbtShape = z.object({ signed_psbt: z.string() });

/** `sendpsbt` of the transaction of that txid */
export const publishedShape = (txid: string) => z.object({ txid: z.literal(txid) });

/** `utxopsbt`, as far as it tells what is left of the coins */
export const fundedShape = z.object({
  excess_msat: msat,
  feerate_per_kw: z.int().positive(),
  estimated_final_weight: z.int().positive(),
});

/** `getutxout`: nulls for a coin that is spent, or that neither a block nor the mempool has. */
export const unspentShape = z.object({ amount: z.unknown() });

/** One of `listtransactions` */
const transactionShape = z.object({
  hash: hex32,
  rawtx: hexText,
  /** Zero while no block has it. */
  blockheight: z.int().nonnegative(),
  locktime: z.int().nonnegative(),
  inputs: z.array(
    z.object({
      txid: hex32,
      index: z.int().nonnegative(),
      sequence: z.int().nonnegative(),
    }),
  ),
  outputs: z.array(z.object({ amount_msat: msat, scriptPubKey: hexText })),
});
export type ClnTransaction = z.output<typeof transactionShape>;
/** `listtransactions` */
export const transactionsShape = z.object({ transactions: z.array(transactionShape) });

/** `listchainmoves` */
export const chainMovesShape = z.object({
  chainmoves: z.array(
    z.object({
      created_index: z.int().positive(),
      /** `wallet`, or a channel's id, or `external`. */
      account_id: z.string(),
      primary_tag: z.string(),
      timestamp: z.number().nonnegative(),
      /** The coin that arrived, or that was spent. */
      utxo: outpoint,
      spending_txid: hex32.optional(),
      blockheight: z.int().nonnegative(),
    }),
  ),
});
export type ClnChainMove = z.output<typeof chainMovesShape>['chainmoves'][number];

/** `listclosedchannels` */
export const closedChannelsShape = z.object({
  closedchannels: z.array(
    z.object({
      channel_id: hex32,
      funding_txid: hex32,
      funding_outnum: z.int().nonnegative(),
    }),
  ),
});

/** `listclosedchannels`, as far as it tells what the channels carried */
export const pastChannelsShape = z.object({
  closedchannels: z.array(
    z.object({ channel_id: hex32, total_htlcs_sent: z.int().nonnegative().optional() }),
  ),
});

/** `fundchannel` */
export const fundedChannelShape = z.object({ channel_id: hex32 });

/** `close` */
export const closedShape = z.object({
  type: z.enum(['mutual', 'unilateral', 'unopened']),
  txs: z.array(hexText).default([]),
});
