import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { decodeOffer, encodeOffer } from '../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../src/codecs/network.ts';
import { blankPayment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type { CreatedInvoice, CreateInvoiceCommand } from '../../src/nodes/node.ts';

/** What an honest node makes for receiving, with a key of these tests. */

const NODE_KEY = new Uint8Array(32).fill(10);
/** The node's public key, hex. */
export const NODE_PK = hex.encode(secp256k1.getPublicKey(NODE_KEY, true));
const SECRET = '11'.repeat(32);

/** The invoice for an order, of that payment hash. */
export function fittingInvoice(
  order: Pick<
    CreateInvoiceCommand,
    'createdAtMs' | 'expirationSecs' | 'amountMsat' | 'description' | 'descriptionHash'
  > &
    Partial<Pick<CreateInvoiceCommand, 'message'>>,
  paymentHash: string,
): CreatedInvoice {
  const { createdAtMs, expirationSecs, amountMsat, description, descriptionHash } = order;
  const timestampSecs = Math.floor(createdAtMs / 1000);
  const fields = {
    network: 'regtest' as const,
    amountMsat,
    timestampSecs,
    paymentHash,
    paymentSecret: SECRET,
    expirySecs: expirationSecs,
    ...(descriptionHash === null
      ? { description: description ?? '' }
      : { descriptionHash: descriptionHash.hash }),
  };
  const invoice = encodeBolt11(fields, NODE_KEY);
  const payment = {
    ...blankPayment({
      index: paymentIndex(createdAtMs, paymentId('ln', paymentHash)),
      rail: 'invoice',
      direction: 'inbound',
      status: 'pending',
      statusMsg: 'invoice generated',
      createdAtMs,
      updatedAtMs: createdAtMs,
    }),
    hash: paymentHash,
    amountMsat,
    message: order.message ?? null,
  };
  const expiresAtMs = (timestampSecs + expirationSecs) * 1000;
  return { payment, invoice, paymentHash, paymentSecret: SECRET, expiresAtMs };
}

/** An offer without an amount and an end, with that description. */
export function fittingOffer(description: string | null): { offer: string; offerId: string } {
  const offer = encodeOffer({
    chains: [NETWORKS.regtest.chainHash],
    issuerId: NODE_PK,
    ...(description === null ? {} : { description }),
  });
  return { offer, offerId: decodeOffer(offer).offerId };
}
