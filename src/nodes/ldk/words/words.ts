import { z } from 'zod';
import { once } from '../../../lib/once.ts';

/** The version of the protocol that this program speaks with the helper (helper/README.md). */
export const PROTOCOL = 1;

const msat = z
  .string()
  .regex(/^\d{1,19}$/)
  .transform(BigInt);
const hex32 = z.string().regex(/^[0-9a-f]{64}$/);
const outpoint = z.string().regex(/^[0-9a-f]{64}:\d{1,10}$/);
const timeMs = z.int().min(0);

/** The answers of the helper. */
export const shapes = once(() => {
  const row = z.object({
    seq: z.int().min(1),
    key: z.string(),
    direction: z.enum(['in', 'out']),
    kind: z.enum(['bolt11', 'keysend', 'offer']),
    /** Null for a payment of an offer whose invoice is not known. */
    hash: hex32.nullable(),
    preimage: hex32.nullable(),
    bolt11: z.string().nullable(),
    attempt: z.int().min(1).nullable(),
    /** The payment index for which the sidecar asked for the attempt; null of what the helper was not asked for. */
    ref: z.string().nullable(),
    state: z.enum(['asked', 'pending', 'open', 'held', 'completed', 'failed']),
    reason: z.string().nullable(),
    /** Whether a channel was closed meanwhile that left it no output. */
    cut: z.boolean(),
    amount_msat: msat.nullable(),
    fee_msat: msat.nullable(),
    received_msat: msat.nullable(),
    lsp_fee_msat: msat.nullable(),
    message: z.string().nullable(),
    offer_id: hex32.nullable(),
    /** Of the offer on which the payment arrived. */
    description: z.string().nullable(),
    created_at: timeMs,
    ended_at: timeMs.nullable(),
    expires_at: timeMs.nullable(),
  });
  const signed = z.object({
    txid: hex32,
    hex: z.string(),
    fee_msat: msat,
    amount_msat: msat,
    inputs: z.array(outpoint),
  });
  const channel = z.object({
    id: hex32,
    user_id: z.string().regex(/^[0-9a-f]{32}$/),
    peer: z.string(),
    funding: outpoint.nullable(),
    usable: z.boolean(),
    ready: z.boolean(),
    value_msat: msat,
    ours_msat: msat,
    theirs_msat: msat,
    reserve_msat: msat,
    out_msat: msat,
    in_msat: msat,
  });
  const transaction = z.object({
    txid: hex32,
    hex: z.string(),
    height: z.int().nullable(),
    block_time: timeMs.nullable(),
    first_seen: timeMs,
    fee_msat: msat.nullable(),
    sent_msat: msat,
    received_msat: msat,
    outputs: z.array(z.object({ vout: z.int(), amount_msat: msat, address: z.string() })),
    role: z.enum(['funding', 'close', 'sweep']).nullable(),
    replaced_by: hex32.nullable(),
  });
  return {
    row,
    rowOrNull: row.nullable(),
    rows: z.object({ rows: z.array(row) }),
    taken: z.object({ row, taken: z.boolean() }),
    invoice: z.object({ row, secret: hex32, first: z.boolean() }),
    offer: z.object({ offer: z.string(), offer_id: hex32, issuer: z.string().nullable() }),
    opened: z.object({ node_pk: z.string(), opens: z.int(), seq: z.int() }),
    info: z.object({
      node_pk: z.string(),
      height: z.int(),
      synced: z.object({
        lightning: timeMs.nullable(),
        onchain: timeMs.nullable(),
        fees: timeMs.nullable(),
      }),
      onchain_msat: msat,
      trusted_msat: msat,
      reserve_msat: msat,
      lightning_msat: msat,
      channels: z.int(),
      usable: z.int(),
      /** Those that peers spoke of and of which the state has nothing. */
      unknown_channels: z.array(hex32),
    }),
    found: z.object({
      coins: z.array(
        z.object({
          outpoint,
          amount_msat: msat,
          height: z.int().nullable(),
          script: z.string(),
          spent: z.object({ txid: hex32, height: z.int().nullable() }).nullable(),
        }),
      ),
    }),
    feeRate: z.object({ sat_per_vbyte: z.number() }),
    address: z.object({ address: z.string() }),
    signed,
    txid: z.object({ txid: hex32 }),
    transactions: z.object({ height: z.int(), transactions: z.array(transaction) }),
    coins: z.object({
      coins: z.array(z.object({ outpoint: z.string(), amount_msat: msat, locked: z.boolean() })),
    }),
    channel: channel.extend({ first: z.boolean() }),
    channels: z.array(channel),
    done: z.object({}),
  };
});

/** A Lightning payment or attempt, as the helper keeps it. */
export type LdkRow = z.output<ReturnType<typeof shapes>['row']>;
/** A transaction of the node's on-chain wallet. */
export type LdkTransaction = z.output<
  ReturnType<typeof shapes>['transactions']
>['transactions'][number];
/** A channel of the node. */
export type LdkChannel = z.output<ReturnType<typeof shapes>['channels']>[number];
/** A transaction that is signed and not published. */
export type LdkSigned = z.output<ReturnType<typeof shapes>['signed']>;

/** What the helper says without being asked, or in answer to a request. */
export const saidShape = once(() =>
  z.union([
    z.object({ hello: z.object({ protocol: z.int(), ldk_node: z.string() }) }),
    z.object({ changed: z.object({}) }),
    z.object({ id: z.int(), result: z.unknown() }),
    z.object({
      id: z.int(),
      error: z.object({
        code: z.enum(['refused', 'unknown', 'not_found', 'unreachable', 'invalid']),
        message: z.string(),
      }),
    }),
  ]),
);
/** One line of the helper. */
export type Said = z.output<ReturnType<typeof saidShape>>;
