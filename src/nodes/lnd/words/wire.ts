import { hex } from '@scure/base';
import { z } from 'zod';

/** A 64-bit integer, which LND writes as a string; as a bigint. */
const int64 = z
  .string()
  .regex(/^-?\d{1,20}$/)
  .transform(BigInt);
const uint64 = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);
/** A 64-bit integer that is a count, an index or seconds, and fits a number. */
const count = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const hex32 = z.string().regex(/^[0-9a-f]{64}$/);
/** Bytes, which LND writes in base64; as hex. */
const bytes = z.base64().transform((text) => hex.encode(Buffer.from(text, 'base64')));

/** GET /v1/state */
export const stateShape = z.object({ state: z.string() });

/** GET /v1/getinfo */
export const infoShape = z.object({
  version: z.string(),
  commit_hash: z.string(),
  identity_pubkey: z.string().regex(/^0[23][0-9a-f]{64}$/),
  block_height: z.int(),
  best_header_timestamp: count,
  synced_to_chain: z.boolean(),
  /** Channels whose funding is not confirmed yet. */
  num_pending_channels: z.int().nonnegative(),
  chains: z.array(z.object({ network: z.string() })),
});
export type LndInfo = z.output<typeof infoShape>;

/** GET /v1/balance/blockchain, satoshis */
export const walletBalanceShape = z.object({
  total_balance: int64,
  confirmed_balance: int64,
  unconfirmed_balance: int64,
  /** Coins with a lock, also those that an unconfirmed transaction spends */
  locked_balance: int64.default(0n),
  reserved_balance_anchor_chan: int64.default(0n),
});

const constraints = z.object({ chan_reserve_sat: uint64 });

/** GET /v1/channels, amounts in satoshis */
export const channelsShape = z.object({
  channels: z.array(
    z.object({
      active: z.boolean(),
      channel_point: z.string(),
      capacity: int64,
      local_balance: int64,
      remote_balance: int64,
      /** What is on its way in it, in either direction. */
      unsettled_balance: int64.default(0n),
      commit_fee: int64,
      fee_per_kw: int64,
      initiator: z.boolean(),
      remote_pubkey: z.string(),
      local_constraints: constraints,
      remote_constraints: constraints,
      memo: z.string().default(''),
    }),
  ),
});
export type LndChannel = z.output<typeof channelsShape>['channels'][number];

const closingChannelShape = z.object({
  channel: z.object({ channel_point: z.string(), capacity: int64, initiator: z.string() }),
  closing_txid: z.string(),
});
/** GET /v1/channels/pending */
export const pendingChannelsShape = z.object({
  pending_open_channels: z.array(
    z.object({
      channel: z.object({
        channel_point: z.string(),
        remote_node_pub: z.string(),
        capacity: int64,
        local_balance: int64,
        remote_balance: int64,
        local_chan_reserve_sat: int64.default(0n),
        memo: z.string().default(''),
      }),
    }),
  ),
  /** The closing transaction is not confirmed yet. */
  waiting_close_channels: z.array(closingChannelShape).default([]),
  /** A commitment transaction is confirmed, and its coins are not swept yet. */
  pending_force_closing_channels: z.array(closingChannelShape).default([]),
});
export type LndPendingChannel = z.output<
  typeof pendingChannelsShape
>['pending_open_channels'][number]['channel'];

/** GET /v1/channels/closed, amounts in satoshis */
export const closedChannelsShape = z.object({
  channels: z.array(
    z.object({
      channel_point: z.string(),
      closing_tx_hash: z.string(),
      capacity: int64,
      open_initiator: z.string(),
    }),
  ),
});

/** POST /v1/invoices */
export const addedInvoiceShape = z.object({
  r_hash: bytes,
  payment_request: z.string(),
  add_index: count,
  payment_addr: bytes,
});

/** POST /v2/invoices/hodl */
export const addedHoldInvoiceShape = z.object({ payment_request: z.string(), payment_addr: bytes });

/** GET /v1/invoice/{hash}, and each item of GET /v1/invoices and of its subscription */
export const invoiceShape = z.object({
  r_preimage: bytes,
  r_hash: bytes,
  value_msat: int64,
  creation_date: count,
  settle_date: count,
  payment_request: z.string(),
  expiry: count,
  add_index: count,
  settle_index: count,
  amt_paid_msat: int64,
  state: z.enum(['OPEN', 'SETTLED', 'CANCELED', 'ACCEPTED']),
  htlcs: z.array(
    z.object({
      custom_records: z.record(z.string(), z.string()).default({}),
      state: z.string().default(''),
      amp: z
        .object({ set_id: bytes, hash: bytes, preimage: bytes })
        .nullish()
        .transform((amp) => amp ?? null),
    }),
  ),
  is_keysend: z.boolean(),
  is_amp: z.boolean().default(false),
  /** Sets of HTLCs by their identifier. */
  amp_invoice_state: z
    .record(hex32, z.object({ state: z.string(), settle_time: count, amt_paid_msat: int64 }))
    .default({}),
  payment_addr: bytes.default(''),
});
export type LndInvoice = z.output<typeof invoiceShape>;

/** GET /v1/invoices; its rows are read one by one as {@link invoiceShape} */
export const invoicesShape = z.object({
  invoices: z.array(z.unknown()),
  last_index_offset: count,
});
/** A row of GET /v1/invoices of which only the hash is needed */
export const invoiceHashShape = z.object({ r_hash: bytes });

/** Each item of GET /v1/payments and of the router's streams */
export const paymentShape = z.object({
  payment_hash: hex32,
  value_msat: int64,
  fee_msat: int64,
  creation_time_ns: uint64,
  payment_preimage: z.string(),
  payment_request: z.string(),
  status: z.enum(['UNKNOWN', 'IN_FLIGHT', 'SUCCEEDED', 'FAILED', 'INITIATED']),
  failure_reason: z.string(),
  payment_index: count,
  htlcs: z.array(
    z.object({
      status: z.string().default(''),
      resolve_time_ns: uint64,
      route: z.object({ total_amt_msat: int64 }).nullish(),
    }),
  ),
});
export type LndPayment = z.output<typeof paymentShape>;

/** Of a row of GET /v1/payments what tells where in the list it stands */
export const listedPaymentShape = paymentShape.pick({
  payment_index: true,
  payment_hash: true,
  creation_time_ns: true,
});

/** GET /v1/payments; its rows are read one by one as {@link paymentShape} */
export const paymentsShape = z.object({
  payments: z.array(z.unknown()),
  last_index_offset: count,
});

/**
 * Each item of GET /v1/transactions and of its subscription; `amount` is the net change of the wallet, less the fees
 * where the wallet pays them
 */
export const transactionShape = z.object({
  tx_hash: hex32,
  amount: int64,
  num_confirmations: z.int(),
  block_height: z.int(),
  time_stamp: count,
  total_fees: int64,
  raw_tx_hex: z.string().regex(/^([0-9a-f]{2})*$/),
  label: z.string(),
  output_details: z.array(
    z.object({
      address: z.string(),
      output_index: count,
      amount: int64,
      is_our_address: z.boolean(),
    }),
  ),
  previous_outpoints: z.array(z.object({ outpoint: z.string(), is_our_output: z.boolean() })),
});
export type LndTransaction = z.output<typeof transactionShape>;

/** Of an item of GET /v1/transactions/subscribe what tells when it is listed */
export const toldTransactionShape = transactionShape.pick({
  tx_hash: true,
  num_confirmations: true,
});

/** GET /v1/transactions */
export const transactionsShape = z.object({ transactions: z.array(transactionShape) });
/** {@link transactionsShape}, whose rows are read one by one */
export const transactionRowsShape = z.object({ transactions: z.array(z.unknown()) });

/** POST /v2/chainnotifier/register/blocks */
export const blockShape = z.object({ height: z.int() });

/** POST /v2/chainnotifier/register/spends; the txid stands in wire byte order */
export const spendShape = z.object({
  /** Absent when the block of an earlier report was replaced. */
  spend: z.object({ spending_tx_hash: bytes, spending_height: z.int() }).optional(),
});

/** GET /v1/newaddress */
export const addressShape = z.object({ address: z.string() });
/** An output of the wallet in requests and answers */
const outpointShape = z.object({ txid_str: hex32, output_index: z.int() });
export type LndOutpoint = z.output<typeof outpointShape>;
/** POST /v2/wallet/psbt/fund */
export const fundedPsbtShape = z.object({
  funded_psbt: z.base64(),
  locked_utxos: z.array(z.object({ id: bytes, outpoint: outpointShape })),
});
export type LndLease = z.output<typeof fundedPsbtShape>['locked_utxos'][number];
/** POST /v2/wallet/utxos/leases, satoshis and seconds since the epoch */
export const leasesShape = z.object({
  locked_utxos: z.array(
    z.object({ id: bytes, outpoint: outpointShape, value: int64, expiration: count }),
  ),
});
/** POST /v2/wallet/psbt/finalize */
export const finalizedPsbtShape = z.object({ raw_final_tx: bytes });
/** POST /v2/wallet/tx */
export const publishedShape = z.object({ publish_error: z.string() });
/** POST /v2/wallet/utxos, satoshis */
export const unspentShape = z.object({
  utxos: z.array(
    z.object({ address_type: z.string(), amount_sat: int64, outpoint: outpointShape }),
  ),
});
export type LndCoin = z.output<typeof unspentShape>['utxos'][number];
/** GET /v2/wallet/sweeps/pending */
export const pendingSweepsShape = z.object({
  pending_sweeps: z.array(z.object({ outpoint: outpointShape, budget: int64.default(0n) })),
});
/** GET /v2/wallet/estimatefee/{blocks} */
export const feeRateShape = z.object({ sat_per_kw: int64 });
/** POST /v2/router/route/estimatefee */
export const routeFeeShape = z.object({ routing_fee_msat: uint64 });
/** GET /v1/transactions/fee */
export const feeEstimateShape = z.object({ fee_sat: int64 });

/** POST /v1/channels; the txid stands in wire byte order */
export const openedChannelShape = z.object({
  funding_txid_bytes: bytes,
  output_index: z.int(),
});
/** DELETE /v1/channels/{txid}/{index}; any update says that both sides agreed on the closing */
export const closeUpdateShape = z.looseObject({});

/** POST /v1/macaroon */
export const bakedMacaroonShape = z.object({ macaroon: z.string().regex(/^[0-9a-f]+$/) });
/** GET /v1/macaroon/ids */
export const rootKeyIdsShape = z.object({ root_key_ids: z.array(z.string().regex(/^\d{1,20}$/)) });
/** POST /v1/signmessage, z-base-32 */
export const signatureShape = z.object({ signature: z.string().max(200) });
/** An answer whose content is not used. */
export const anyShape = z.looseObject({});
