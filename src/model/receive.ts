import { z } from 'zod';
import { encodeHumanBitcoinAddress } from '../codecs/human-bitcoin-address.ts';
import { amountOutput } from './amount.ts';
import { hexOutput, timestamp } from './text.ts';

/** The Invoice creation result (contract, Invoice creation result). */
export const createdInvoiceJson = z
  .object({
    index: z.string(),
    invoice: z.string(),
    description: z.string().nullable(),
    amount: amountOutput.nullable(),
    created_at: timestamp,
    expires_at: timestamp,
    payment_hash: hexOutput(32),
    payment_secret: hexOutput(32),
  })
  .meta({ id: 'CreatedInvoice', description: 'A BOLT 11 invoice that was created.' });
export type CreatedInvoiceJson = z.infer<typeof createdInvoiceJson>;

/** The Human Bitcoin Address record (contract, Human Bitcoin Address record). */
export const humanBitcoinAddressJson = z
  .object({
    human_bitcoin_address: z.string(),
    lightning_address: z.string(),
    offer: z.string(),
    updatable: z.boolean(),
  })
  .meta({ id: 'HumanBitcoinAddress', description: 'A human-readable Bitcoin address.' });
export type HumanBitcoinAddressJson = z.infer<typeof humanBitcoinAddressJson>;

/** {@link humanBitcoinAddressJson} inside this program. */
export interface HumanBitcoinAddress {
  readonly username: string;
  readonly domain: string;
  /** The offer that BIP 353 resolves the name to. */
  readonly offer: string;
  /** Whether the username can be changed now. */
  readonly updatable: boolean;
}

/** Username rule (contract, Limits): 6 to 24 lowercase alphanumerics and single inner hyphens. */
export const usernameInput = z
  .string()
  .min(6, 'must have at least 6 characters')
  .max(24, 'must have at most 24 characters')
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'must hold lowercase letters, digits and single hyphens inside only',
  );

/** Writes the record as answers carry it. */
export function encodeNameRecord(record: HumanBitcoinAddress): HumanBitcoinAddressJson {
  return {
    human_bitcoin_address: encodeHumanBitcoinAddress(record),
    lightning_address: `${record.username}@${record.domain}`,
    offer: record.offer,
    updatable: record.updatable,
  };
}
