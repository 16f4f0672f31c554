import { z } from 'zod';
import { encodeHumanBitcoinAddress } from '../codecs/human-bitcoin-address.ts';
import { once } from '../lib/once.ts';
import { amountOutput } from './amount.ts';
import { addition, hexOutput, timestamp } from './text.ts';

/** The types of on-chain addresses that a wallet hands out: P2WPKH and P2TR. */
export const ADDRESS_TYPES = ['segwit', 'taproot'] as const;
export type AddressType = (typeof ADDRESS_TYPES)[number];

/** The type of an address in a request. It has a name of its own in the OpenAPI document (docs/decisions.md 167). */
export const addressTypeField = once(() =>
  z.enum(ADDRESS_TYPES).meta({
    id: 'AddressType',
    description: 'Kind of an on-chain address: `segwit` (P2WPKH) or `taproot` (P2TR).',
  }),
);

/** A new invoice in an answer (docs/api.md, Created invoice). */
export const createdInvoiceJson = once(() =>
  z
    .object({
      index: z.string().describe('Index of the inbound payment; wait for it with this.'),
      invoice: z.string().describe('The BOLT 11 invoice to give to the payer.'),
      description: z.string().nullable().describe('Description in the invoice; null for none.'),
      amount: amountOutput()
        .nullable()
        .describe('Amount in the invoice, in sats; null when the payer chooses.'),
      created_at: timestamp().describe('When it was created, in milliseconds.'),
      expires_at: timestamp().describe('When it expires, in milliseconds.'),
      payment_hash: hexOutput(32).describe('Hash of the payment.'),
      payment_secret: hexOutput(32).describe('Payment secret of the invoice.'),
      lsp_fee: amountOutput()
        .nullable()
        .meta(addition('What an LSP takes for opening a channel, in sats; null for none.')),
    })
    .meta({ id: 'CreatedInvoice', description: 'A BOLT 11 invoice that was created.' }),
);
export type CreatedInvoiceJson = z.infer<ReturnType<typeof createdInvoiceJson>>;

/** A name of a wallet in an answer (docs/api.md, Human Bitcoin Address). */
export const humanBitcoinAddressJson = once(() =>
  z
    .object({
      human_bitcoin_address: z.string().describe('The BIP 353 name, with its ₿.'),
      lightning_address: z
        .string()
        .describe('The same name as a Lightning Address, for payers that know no BIP 353.'),
      offer: z
        .string()
        .nullable()
        .describe('The BOLT 12 offer that the name stands for; null on a node without offers.'),
      updatable: z.boolean().describe('Whether the username can be changed now.'),
    })
    .meta({ id: 'HumanBitcoinAddress', description: 'A human-readable Bitcoin address.' }),
);
type HumanBitcoinAddressJson = z.infer<ReturnType<typeof humanBitcoinAddressJson>>;

/** A name of a wallet inside this program. */
export interface HumanBitcoinAddress {
  readonly username: string;
  readonly domain: string;
  /** The offer that BIP 353 resolves the name to; null on a node without offers. */
  readonly offer: string | null;
  /** Whether the username can be changed now. */
  readonly updatable: boolean;
}

const USERNAME_RULE =
  'must be 6 to 24 lowercase letters, digits and hyphens, without a hyphen at either end or two in a row';

/** A username in a request: 6 to 24 lowercase letters, digits and single inner hyphens (docs/api.md, Limits). */
export const usernameInput = once(() =>
  z
    .string()
    .min(6, { error: USERNAME_RULE, abort: true })
    .max(24, { error: USERNAME_RULE, abort: true })
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, USERNAME_RULE)
    .meta({
      description: 'Lowercase letters, digits and single hyphens; no hyphen at either end.',
      examples: ['satoshi'],
    }),
);

/** Writes a name in the form of answers. */
export function encodeNameRecord(record: HumanBitcoinAddress): HumanBitcoinAddressJson {
  return {
    human_bitcoin_address: encodeHumanBitcoinAddress(record),
    lightning_address: `${record.username}@${record.domain}`,
    offer: record.offer,
    updatable: record.updatable,
  };
}
