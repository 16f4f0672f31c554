import { z } from 'zod';
import { amountOutput } from './amount.ts';
import { timestamp } from './text.ts';

const payableBase = {
  callback: z.string().meta({ description: 'URL of POST /v2/node/pay with the string filled in.' }),
  description: z.string().nullable(),
  amount: amountOutput.nullable(),
  min_amount: amountOutput.nullable(),
  max_amount: amountOutput.nullable(),
  expires_at: timestamp.nullable(),
};

/** A way to pay found in a payment string (contract, Payable). */
export const payableJson = z
  .discriminatedUnion('kind', [
    z.object({ ...payableBase, kind: z.literal('invoice'), invoice: z.string() }),
    z.object({ ...payableBase, kind: z.literal('offer'), offer: z.string() }),
    z.object({ ...payableBase, kind: z.literal('onchain'), onchain: z.string() }),
    z.object({ ...payableBase, kind: z.literal('lnurl-pay'), lnurl: z.string() }),
  ])
  .meta({ id: 'Payable', description: 'One way to pay what a payment string asks for.' });
export type PayableJson = z.infer<typeof payableJson>;

/** A way to be paid found in a payment string (contract, Claimable). */
export const claimableJson = z
  .object({
    callback: z.string().meta({ description: 'URL of POST /v2/node/withdraw_lnurl, filled in.' }),
    kind: z.literal('lnurl-withdraw'),
    lnurl: z.string(),
    description: z.string().nullable(),
    min_amount: amountOutput.nullable(),
    max_amount: amountOutput.nullable(),
  })
  .meta({ id: 'Claimable', description: 'Money that a payment string lets the wallet withdraw.' });
export type ClaimableJson = z.infer<typeof claimableJson>;
