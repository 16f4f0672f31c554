import { describe, expect, test } from 'bun:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  decodeInvoice,
  decodeOffer,
  encodeBolt12String,
  encodeOffer,
} from '../../../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../../../src/codecs/network.ts';
import { encodeTlvStream, sortTlvRecords } from '../../../../src/codecs/tlv.ts';
import {
  acceptInvoice,
  answerInvoiceRequest,
  askForInvoice,
  type OfferParts,
  requirePayable,
  writeOffer,
} from '../../../../src/nodes/sandbox/offers/exchange.ts';
import { throwing } from '../../../support/rejection.ts';
import { openTrialSandbox } from '../../../support/trial-sandbox.ts';

const issuerSecretKey = new Uint8Array(32).fill(9);
const issuerId = bytesToHex(secp256k1.getPublicKey(issuerSecretKey, true));
const chains = [NETWORKS.regtest.chainHash];
const paymentHash = 'cd'.repeat(32);
const nowMs = 1_700_000_000_000;

function offer(change: Partial<OfferParts> = {}) {
  return writeOffer({
    description: null,
    minAmountMsat: null,
    expiresAtMs: null,
    issuerSecretKey,
    metadata: new Uint8Array(16).fill(1),
    ...change,
  });
}

function ask(of = offer(), amountMsat: bigint | null = 1_000n, name: string | null = null) {
  return askForInvoice({
    offer: of,
    amountMsat,
    message: 'for coffee',
    viaName: name,
    payerSecretKey: new Uint8Array(32).fill(3),
    metadata: new Uint8Array(32).fill(4),
  });
}

function answer(requestBytes: Uint8Array, of = offer(), atMs = nowMs) {
  return answerInvoiceRequest({
    requestBytes,
    offer: of,
    issuerSecretKey,
    paymentHash,
    nowMs: atMs,
  });
}

const refusal = (message: string) =>
  expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) });

describe('the offer exchange', () => {
  test('an invoice answers the request: its amount, hash, note, and the signature of the offer issuer', () => {
    const request = ask();
    const invoice = acceptInvoice(answer(request.bytes).bytes, request, nowMs);
    expect(invoice).toMatchObject({
      amountMsat: 1_000n,
      paymentHash,
      payerNote: 'for coffee',
      nodeId: issuerId,
      createdAtSecs: nowMs / 1000,
      chain: NETWORKS.regtest.chainHash,
    });
  });

  test('an offer carries its description, least amount and expiry, never later than promised', () => {
    expect(
      offer({ description: 'Tea', minAmountMsat: 5_500n, expiresAtMs: nowMs + 999 }),
    ).toMatchObject({
      description: 'Tea',
      amountMsat: 5_500n,
      absoluteExpirySecs: nowMs / 1000,
      issuerId,
    });
  });

  test('an offer with a least amount and no description has an empty one, as BOLT 12 wants', () => {
    expect(offer({ minAmountMsat: 1n }).description).toBe('');
  });

  test('an amount below the least is refused, by the payer and by the receiver', () => {
    const least = offer({ minAmountMsat: 2_000n });
    expect(() => ask(least, 1_999n)).toThrow(refusal('below the 2000 millisatoshis'));
    expect(ask(least, 2_000n).amountMsat).toBe(2_000n);
    const cheap = ask(offer(), 1_000n);
    expect(() => answer(cheap.bytes, least)).toThrow(refusal('not those of the offer'));
  });

  test('a request whose signature or fields were changed is not answered', () => {
    const bytes = Uint8Array.from(ask().bytes);
    const last = bytes.length - 1;
    bytes[last] = (bytes[last] ?? 0) ^ 1;
    expect(() => answer(bytes)).toThrow(refusal('signature is not by invreq_payer_id'));
  });

  test('an invoice by another key is not accepted', () => {
    const request = ask();
    expect(() =>
      answerInvoiceRequest({
        requestBytes: request.bytes,
        offer: offer(),
        issuerSecretKey: new Uint8Array(32).fill(8),
        paymentHash,
        nowMs,
      }),
    ).toThrow(refusal('not the offer_issuer_id'));
  });

  test('an invoice for another request is not accepted', () => {
    const other = ask(offer(), 7_000n);
    expect(() => acceptInvoice(answer(other.bytes).bytes, ask(), nowMs)).toThrow(
      refusal('does not repeat the fields'),
    );
  });

  test('an invoice is not accepted past its expiry', () => {
    const request = ask();
    const { bytes } = answer(request.bytes);
    const expiresAtMs = decodeInvoice(bytes).expiresAtSecs * 1000;
    expect(acceptInvoice(bytes, request, expiresAtMs).paymentHash).toBe(paymentHash);
    expect(() => acceptInvoice(bytes, request, expiresAtMs + 1_000)).toThrow(
      refusal('has expired'),
    );
  });

  test('an expired offer is refused, by the payer and by the receiver', () => {
    const short = offer({ expiresAtMs: nowMs });
    expect(() => requirePayable(short, nowMs + 1_000)).toThrow(refusal('has expired'));
    expect(() => answer(ask(short).bytes, short, nowMs + 1_000)).toThrow(refusal('has expired'));
  });

  test.each([
    ['for another chain', { chains: [NETWORKS.bitcoin.chainHash], issuerId }, 'another network'],
  ])('an offer %s is refused with the reason', (_name, fields, message) => {
    expect(() => requirePayable(decodeOffer(encodeOffer(fields)), nowMs)).toThrow(refusal(message));
  });

  test('the issuer of an offer in a currency names the amount, and takes no less', () => {
    const price = { currency: 'EUR', amount: '5.00' };
    const priced = offer({ price, minAmountMsat: 9_000n });
    expect(priced).toMatchObject({ currency: 'EUR', amount: 500n, amountMsat: null });
    const asked = (amountMsat: bigint | null) => {
      const request = ask(priced, amountMsat);
      return acceptInvoice(answer(request.bytes, priced).bytes, request, nowMs).amountMsat;
    };
    expect([asked(null), asked(9_001n)]).toEqual([9_000n, 9_001n]);
    expect(() => asked(8_999n)).toThrow(refusal('asks for 9 sats'));
  });

  test('an offer that requires unknown features is refused with the reason', async () => {
    const sandbox = openTrialSandbox(':memory:', { now: () => nowMs });
    const feature = { type: 12n, value: Uint8Array.of(0b100) };
    const bytes = encodeTlvStream(sortTlvRecords([...offer().records, feature]));
    const payable = encodeBolt12String('lno', bytes);
    const order = { payable, amountMsat: 1000n, message: null, payerName: null };
    expect(await throwing(sandbox.controls.pay(order))).toThrow(refusal('requires feature 2'));
    await sandbox.connector.close();
  });

  test('an offer sold by quantity is bought once', () => {
    const text = encodeOffer({
      chains,
      issuerId,
      amount: 700n,
      description: 'Egg',
      quantityMax: 12n,
    });
    const eggs = decodeOffer(text);
    expect(() => requirePayable(eggs, nowMs)).not.toThrow();
    const request = ask(eggs, 700n);
    expect(request.quantity).toBe(1n);
    expect(answer(request.bytes, eggs)).toMatchObject({ quantity: 1n, amountMsat: 700n });
  });

  test.each([
    ['alice@example.com', 'alice@example.com'],
    ['₿alice@example.com', 'alice@example.com'],
    ['alice-1@127.0.0.1:5393', 'alice-1@127.0.0.1'],
    ['Alice in Chains', null],
  ])('the name %s goes into the request as %s', (name, expected) => {
    const { bip353Name } = ask(offer(), 1_000n, name);
    expect(bip353Name && `${bip353Name.name}@${bip353Name.domain}`).toBe(expected);
  });
});
