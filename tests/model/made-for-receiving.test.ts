import { describe, expect, test } from 'bun:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { encodeWitnessAddress } from '../../src/codecs/address.ts';
import { type Bolt11Fields, encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { decodeOffer, encodeOffer, type OfferFields } from '../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../src/codecs/network.ts';
import {
  type AskedInvoice,
  addressMisfit,
  invoiceMisfit,
  offerMisfit,
} from '../../src/model/made-for-receiving.ts';

/** What a node makes for receiving must be what it was asked for (docs/decisions.md 160). */

const KEY = new Uint8Array(32).fill(7);
const OTHER_KEY = new Uint8Array(32).fill(8);
const publicKeyOf = (key: Uint8Array) => hex.encode(secp256k1.getPublicKey(key, true));
const receiver = { nodePk: publicKeyOf(KEY), network: 'regtest' } as const;
const [HASH, OTHER, SECRET] = ['aa', 'bb', '11'].map((byte) => byte.repeat(32)) as [
  string,
  string,
  string,
];

describe('an invoice', () => {
  const asked: AskedInvoice = {
    amountMsat: 5000n,
    description: 'tea',
    descriptionHash: null,
    expirationSecs: 90,
    paymentHash: HASH,
  };
  const honest: Bolt11Fields = {
    network: 'regtest',
    amountMsat: 5000n,
    timestampSecs: 1_800_000_000,
    paymentHash: HASH,
    paymentSecret: SECRET,
    description: 'tea',
    expirySecs: 90,
  };
  const told = (change: Partial<Bolt11Fields> = {}, key = KEY) => {
    const fields = { ...honest, ...change };
    return {
      invoice: encodeBolt11(fields, key),
      paymentHash: fields.paymentHash,
      paymentSecret: fields.paymentSecret,
      expiresAtMs: (fields.timestampSecs + (fields.expirySecs ?? 3600)) * 1000,
    };
  };
  const { description: _, ...withoutText } = honest;

  test('as it was asked for fits', () => {
    expect(invoiceMisfit(told(), asked, receiver)).toBeNull();
    expect(invoiceMisfit(told(), { ...asked, paymentHash: null }, receiver)).toBeNull();
    const empty = told({ description: '', amountMsat: null });
    const anyAmount = { ...asked, description: null, amountMsat: null };
    expect(invoiceMisfit(empty, anyAmount, receiver)).toBeNull();
  });

  test.each([
    ['another payee', told({}, OTHER_KEY)],
    ['another network', told({ network: 'bitcoin' })],
    ['another payment hash', told({ paymentHash: OTHER })],
    ['another amount', told({ amountMsat: 4999n })],
    ['another amount', told({ amountMsat: 5001n })],
    ['another amount', told({ amountMsat: null })],
    ['another description', told({ description: 'tee' })],
    ['another expiry', told({ expirySecs: 91 })],
    ['another expiry', told({ expirySecs: 89 })],
    ['not the one it speaks of', { ...told(), paymentHash: OTHER }],
    ['not the one it speaks of', { ...told(), paymentSecret: OTHER }],
    ['not the one it speaks of', { ...told(), expiresAtMs: 1 }],
    ['cannot be read', { ...told(), invoice: '<script>' }],
    ['cannot be read', { ...told(), invoice: `${told().invoice.slice(0, -1)}q` }],
  ])('with %s does not', (what, lie) => {
    expect(invoiceMisfit(lie, asked, receiver)).toMatch(what);
  });

  test('that commits to a text holds the hash that was asked for, and no other', () => {
    const committed = { ...asked, description: null, descriptionHash: OTHER };
    const hashed = (descriptionHash: string) => ({
      ...told(),
      invoice: encodeBolt11({ ...withoutText, descriptionHash }, KEY),
    });
    expect(invoiceMisfit(hashed(OTHER), committed, receiver)).toBeNull();
    expect(invoiceMisfit(hashed(HASH), committed, receiver)).toMatch('another description hash');
    expect(invoiceMisfit(told(), committed, receiver)).toMatch('another description hash');
    expect(invoiceMisfit(hashed(OTHER), asked, receiver)).toMatch('another description hash');
  });

  test('whose preimage the node draws is of the hash that it tells', () => {
    const free = { ...asked, paymentHash: null };
    expect(invoiceMisfit({ ...told(), paymentHash: OTHER }, free, receiver)).toMatch('hash');
  });
});

describe('an offer', () => {
  const asked = { description: 'tea', minAmountMsat: 5000n, expiresAtMs: 90_999 };
  const honest: OfferFields = {
    chains: [NETWORKS.regtest.chainHash],
    amount: 5000n,
    description: 'tea',
    absoluteExpirySecs: 90,
    issuerId: receiver.nodePk,
  };
  const told = (fields: OfferFields) => {
    const offer = encodeOffer(fields);
    return { offer, offerId: decodeOffer(offer).offerId };
  };
  const changed = (change: OfferFields) => told({ ...honest, ...change });
  const { absoluteExpirySecs: _, ...endless } = honest;
  const { chains: __, ...onBitcoin } = honest;
  const { amount: ___, ...anyAmount } = honest;

  test('as it was asked for fits', () => {
    expect(offerMisfit(told(honest), asked, receiver)).toBeNull();
    const { description: ____, ...nothing } = anyAmount;
    const nothingAsked = { ...asked, description: null, minAmountMsat: null };
    expect(offerMisfit(told(nothing), nothingAsked, receiver)).toBeNull();
    expect(offerMisfit(told(endless), { ...asked, expiresAtMs: null }, receiver)).toBeNull();
    const issuerId = publicKeyOf(OTHER_KEY);
    expect(offerMisfit({ ...changed({ issuerId }), issuerId }, asked, receiver)).toBeNull();
  });

  test.each([
    ['another issuer', changed({ issuerId: publicKeyOf(OTHER_KEY) })],
    ['another issuer', { ...told(honest), issuerId: publicKeyOf(OTHER_KEY) }],
    ['another network', told(onBitcoin)],
    ['another network', changed({ chains: Object.values(NETWORKS).map((one) => one.chainHash) })],
    [
      'another network',
      changed({ chains: [NETWORKS.regtest.chainHash, NETWORKS.bitcoin.chainHash] }),
    ],
    ['another amount', changed({ amount: 4999n })],
    ['another amount', told(anyAmount)],
    ['another amount', changed({ currency: 'USD' })],
    ['another description', changed({ description: 'tee' })],
    ['another expiry', changed({ absoluteExpirySecs: 91 })],
    ['another expiry', told(endless)],
    ['not the one it speaks of', { ...told(honest), offerId: OTHER }],
    ['cannot be read', { ...told(honest), offer: '<script>' }],
  ])('with %s does not', (what, lie) => {
    expect(offerMisfit(lie, asked, receiver)).toMatch(what);
  });
});

describe('an address', () => {
  const program = (length: number) => new Uint8Array(length).fill(3);
  const segwit = encodeWitnessAddress(0, program(20), 'regtest') ?? '';
  const taproot = encodeWitnessAddress(1, program(32), 'regtest') ?? '';
  const script = encodeWitnessAddress(0, program(32), 'regtest') ?? '';
  const elsewhere = encodeWitnessAddress(0, program(20), 'bitcoin') ?? '';

  test('of the type that was asked for fits', () => {
    expect(addressMisfit(segwit, 'segwit', receiver)).toBeNull();
    expect(addressMisfit(taproot, 'taproot', receiver)).toBeNull();
  });

  test('of another type or network does not, and neither does a text that is none', () => {
    expect(addressMisfit(taproot, 'segwit', receiver)).toMatch('another type');
    expect(addressMisfit(segwit, 'taproot', receiver)).toMatch('another type');
    expect(addressMisfit(script, 'segwit', receiver)).toMatch('another type');
    expect(addressMisfit(elsewhere, 'segwit', receiver)).toMatch('another network');
    for (const text of ['<script>', '', `${segwit}q`]) {
      expect(addressMisfit(text, 'segwit', receiver)).toMatch('no address');
    }
  });
});
