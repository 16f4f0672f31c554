import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { decodeInvoice } from '../../../src/codecs/bolt12/index.ts';
import type { Outside } from '../../contracts/node/kind.ts';
import { bolt11Of, type FakeCln, refusal } from './fake-cln.ts';
import { FakeXpay } from './fake-xpay.ts';

const THEIR_KEY = new Uint8Array(32).fill(9);
/** What the node's one channel holds, and what of it is the wallet's at the start. */
const TOTAL_MSAT = 10_000_000_000;
const RESERVE_MSAT = 100_000_000;

interface Receiver {
  readonly preimage: string;
  readonly behavior: 'settle' | 'fail' | 'hold';
  readonly decided: PromiseWithResolvers<boolean>;
}

/** Has a fake pay and be paid over a channel, by receivers who settle, fail or decide later. */
export function withPayments(cln: FakeCln) {
  const xpay = new FakeXpay(cln);
  const receivers = new Map<string, Receiver>();
  let ownMsat = TOTAL_MSAT / 2;
  const htlcs: { direction: 'out'; amount_msat: number; payment_hash: string }[] = [];

  /** Adds somebody who can be paid. Returns the hash. */
  function receiver(behavior: Receiver['behavior']): string {
    const preimage = hex.encode(crypto.getRandomValues(new Uint8Array(32)));
    const hash = hex.encode(sha256(hex.decode(preimage)));
    receivers.set(hash, { preimage, behavior, decided: Promise.withResolvers() });
    return hash;
  }

  cln.on('xpay', async ({ invstring, label, amount_msat }) => {
    const text = String(invstring);
    const isOffer = text.startsWith('lni');
    const read = isOffer ? decodeInvoice(text) : decodeBolt11(text);
    const { paymentHash, amountMsat, expiresAtMs } =
      'expiresAtMs' in read ? read : { ...read, expiresAtMs: read.expiresAtSecs * 1000 };
    if (cln.nowSecs() * 1000 > expiresAtMs) return refusal(207, 'Invoice expired');
    const amount = Number(amountMsat ?? String(amount_msat).replace('msat', ''));
    const part = xpay.begin({
      payment_hash: paymentHash,
      label: String(label),
      ...(isOffer ? { bolt12: text } : { bolt11: text }),
      created_at: cln.nowSecs(),
      amount_msat: amount,
      amount_sent_msat: amount + 1,
    });
    if (part instanceof Response) return part;
    const htlc = { direction: 'out', amount_msat: amount + 1, payment_hash: paymentHash } as const;
    htlcs.push(htlc);
    const found = receivers.get(paymentHash);
    const isPaid =
      found?.behavior === 'hold' ? await found.decided.promise : found?.behavior === 'settle';
    htlcs.splice(htlcs.indexOf(htlc), 1);
    if (isPaid) ownMsat -= htlc.amount_msat;
    xpay.end(part, isPaid, found?.preimage);
    return isPaid ? xpay.paid(part) : refusal(203, 'Failed: destination said it does not know');
  });

  const outside = {
    async invoice({ amountMsat, behavior, expirySecs = 3600 }) {
      const hash = receiver(behavior);
      const terms = { description: 'their tea', expirySecs };
      const made = { timestampSecs: cln.nowSecs(), key: THEIR_KEY };
      return { hash, invoice: bolt11Of(hash, amountMsat, terms, made) };
    },
    async decide(hash, settle) {
      receivers.get(hash)?.decided.resolve(settle);
    },
    async pays(invoice) {
      const { paymentHash, amountMsat } = decodeBolt11(invoice);
      const row = cln.invoices.rows.find(({ payment_hash }) => payment_hash === paymentHash);
      if (row?.status !== 'unpaid') throw new Error('The invoice cannot be paid.');
      ownMsat += Number(amountMsat);
      cln.pay(paymentHash);
    },
  } satisfies Partial<Outside>;

  return {
    outside,
    receiver,
    /** The channel, as the node lists it. */
    channel: () => {
      const outMsat = htlcs.reduce((sum, { amount_msat }) => sum + amount_msat, 0);
      return {
        peer_id: `02${'ab'.repeat(32)}`,
        peer_connected: true,
        state: 'CHANNELD_NORMAL',
        opener: 'local',
        channel_id: 'c0'.repeat(32),
        funding_txid: 'c1'.repeat(32),
        funding_outnum: 0,
        total_msat: TOTAL_MSAT,
        to_us_msat: ownMsat,
        our_reserve_msat: RESERVE_MSAT,
        spendable_msat: ownMsat - outMsat - RESERVE_MSAT,
        receivable_msat: TOTAL_MSAT - ownMsat - RESERVE_MSAT,
        htlcs,
      };
    },
  };
}
