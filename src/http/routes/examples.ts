import type { PaymentJson } from '../../model/payment.ts';

const HASH = 'a3'.repeat(32);

/** A payment for the documentation: an invoice that was paid. */
export const examplePayment: PaymentJson = {
  index: `0000001764000000000-ln_${HASH}`,
  rail: 'invoice',
  kind: 'invoice',
  direction: 'outbound',
  hash: HASH,
  preimage: 'b4'.repeat(32),
  offer_id: null,
  txid: null,
  replacement: null,
  amount: '1000',
  fees: '2',
  partner_pk: null,
  partner_prop_fee: null,
  partner_base_fee: null,
  status: 'completed',
  status_msg: 'completed',
  address: null,
  invoice: 'lnbcrt10u1p5example',
  tx: null,
  payer_name: null,
  message: null,
  personal_note: 'Coffee',
  priority: null,
  expires_at: 1764086400000,
  finalized_at: 1764000000321,
  created_at: 1764000000000,
  updated_at: 1764000000321,
};

/** An updated index for the documentation. */
export const exampleUpdatedIndex = `u0000001764000000321-ln_${HASH}`;
