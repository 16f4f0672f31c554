import { z } from 'zod';

/** The shapes of Core Lightning's answers, as far as they are read. Amounts end in `_msat` and are integers there. */

/** An amount in millisatoshis. Numbers of JSON hold it exactly up to 90,000 BTC; a greater one is not read. */
export const msat = z.int().nonnegative().transform(BigInt);
/** 32 bytes in hex. */
export const hex32 = z.string().regex(/^[0-9a-f]{64}$/);
const publicKey = z.string().regex(/^0[23][0-9a-f]{64}$/);
/** Seconds since the epoch. */
const secs = z.number().nonnegative();
const index = z.int().nonnegative();

/** For answers of which nothing is read. */
export const anyShape = z.unknown();

/** An error answer of clnrest. Where there is no code, the error is not one of the node. */
export const refusalShape = z.object({ code: z.int().nullable(), message: z.string() });

/** `getinfo` */
export const infoShape = z.object({
  id: publicKey,
  version: z.string(),
  network: z.string(),
  blockheight: z.int(),
});
export type ClnInfo = z.output<typeof infoShape>;

/** `signmessage`; `zbase` is the signature. */
export const signatureShape = z.object({ zbase: z.string() });

/** `createrune` */
export const createdRuneShape = z.object({ rune: z.string() });

/** `blacklistrune`: the ranges of numbers that are ended, of this call and earlier ones. */
export const blacklistShape = z.object({
  blacklist: z.array(z.object({ start: index, end: index })),
});

/** `showrunes` */
export const runesShape = z.object({
  runes: z.array(z.object({ rune: z.string(), blacklisted: z.boolean().default(false) })),
});

/** `listfunds` */
export const fundsShape = z.object({
  outputs: z.array(
    z.object({
      txid: hex32,
      output: z.int().nonnegative(),
      amount_msat: msat,
      scriptpubkey: z.string(),
      address: z.string().optional(),
      status: z.enum(['unconfirmed', 'confirmed', 'spent', 'immature']),
      reserved: z.boolean().default(false),
      /** The height at which the reservation ends. */
      reserved_to_block: z.int().optional(),
      /** The height from which a coin of a closed channel can be spent. */
      spendable_at: z.int().optional(),
    }),
  ),
});
export type ClnOutput = z.output<typeof fundsShape>['outputs'][number];

/** `listpeerchannels` */
export const channelsShape = z.object({
  channels: z.array(
    z.object({
      peer_id: publicKey,
      peer_connected: z.boolean(),
      state: z.string(),
      /** Absent until the opening transaction is known. */
      channel_id: hex32.optional(),
      funding_txid: hex32.optional(),
      funding_outnum: z.int().nonnegative().optional(),
      total_msat: msat.default(0n),
      to_us_msat: msat.default(0n),
      our_reserve_msat: msat.default(0n),
      spendable_msat: msat.default(0n),
      receivable_msat: msat.default(0n),
      opener: z.enum(['local', 'remote']).optional(),
      /** Payments on their way over the channel; `to_us_msat` still holds those that go out. */
      htlcs: z.array(z.object({ direction: z.enum(['in', 'out']), amount_msat: msat })).default([]),
    }),
  ),
});
export type ClnChannel = z.output<typeof channelsShape>['channels'][number];

/** `listpeerchannels`, as far as it tells which payments are in the channels */
export const carriedShape = z.object({
  channels: z.array(
    z.object({
      state: z.string(),
      htlcs: z.array(z.object({ direction: z.enum(['in', 'out']), payment_hash: hex32 })),
    }),
  ),
});

/** A position in an order of `listinvoices` or `listsendpays`; `updated_index` is absent until the first change. */
const indexes = { created_index: index.default(0), updated_index: index.default(0) };

/** One of `listinvoices`. */
export const invoiceShape = z.object({
  ...indexes,
  label: z.string(),
  payment_hash: hex32,
  status: z.enum(['unpaid', 'paid', 'expired']),
  expires_at: secs,
  description: z.string().optional(),
  amount_msat: msat.optional(),
  amount_received_msat: msat.optional(),
  paid_at: secs.optional(),
  payment_preimage: hex32.optional(),
  bolt11: z.string().optional(),
  bolt12: z.string().optional(),
  local_offer_id: hex32.optional(),
  invreq_payer_note: z.string().optional(),
});
export type ClnInvoice = z.output<typeof invoiceShape>;
/** `listinvoices`; rows are read one by one, so that an odd one does not hide the others. */
export const invoicesShape = z.object({ invoices: z.array(z.unknown()) });

/** One of `listsendpays`: one part of one attempt. */
export const sendpayShape = z.object({
  ...indexes,
  payment_hash: hex32,
  /**
   * The attempt to which the part belongs, among those of the same hash. `xpay` draws it from 63 bits, of which JSON's
   * numbers hold 53: it may be compared, and must not be sent back.
   */
  groupid: z.number().nonnegative(),
  partid: z.int().nonnegative().default(0),
  status: z.enum(['pending', 'failed', 'complete']),
  created_at: secs,
  completed_at: secs.optional(),
  amount_msat: msat.optional(),
  amount_sent_msat: msat,
  label: z.string().optional(),
  bolt11: z.string().optional(),
  bolt12: z.string().optional(),
  payment_preimage: hex32.optional(),
});
export type ClnSendpay = z.output<typeof sendpayShape>;
/** `listsendpays` */
export const sendpaysShape = z.object({ payments: z.array(z.unknown()) });

/** `invoice` */
export const createdInvoiceShape = z.object({ bolt11: z.string(), expires_at: secs });

/** `delinvoice` of the invoice of that hash */
export const deletedInvoiceShape = (hash: string) => z.object({ payment_hash: z.literal(hash) });

/** `offer` */
export const createdOfferShape = z.object({
  bolt12: z.string(),
  offer_id: hex32,
  created: z.boolean().default(true),
});

/** `fetchinvoice` */
export const fetchedInvoiceShape = z.object({ invoice: z.string() });

/** `createproof` */
export const proofsShape = z.object({ proofs: z.array(z.object({ bolt12: z.string() })) });

/** `xpay` */
export const paidShape = z.object({
  payment_preimage: hex32,
  amount_msat: msat,
  amount_sent_msat: msat,
  /** How many parts of this very call delivered. Absent where the answer tells of an earlier payment of the hash. */
  successful_parts: z.int().default(0),
});

/** `getroutes` */
export const routesShape = z.object({
  routes: z.array(
    z.object({ amount_msat: msat, path: z.array(z.object({ amount_in_msat: msat })) }),
  ),
});

/** `wait`: the index that was reached, which may be beyond the one that was asked for. */
export const waitShape = z.object({
  created: index.optional(),
  updated: index.optional(),
  deleted: index.optional(),
});

/** `newaddr` */
export const addressShape = z.object({
  bech32: z.string().optional(),
  p2tr: z.string().optional(),
});
