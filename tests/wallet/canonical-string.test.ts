import { describe, expect, test } from 'bun:test';
import { encodeHashAddress } from '../../src/codecs/address.ts';
import { canonicalPaymentString } from '../../src/wallet/strings/canonical-string.ts';
import { makeOffer } from '../support/bolt12-fixtures.ts';
import { addressOf, invoiceOf, PAY_LNURL } from './payment-strings.ts';

const ADDRESS = addressOf(1);
const INVOICE = invoiceOf(5000n);
const OFFER = makeOffer().text;
const LEGACY = encodeHashAddress('p2pkh', new Uint8Array(20).fill(1), 'regtest') ?? '';

describe('spellings of one payment string have one canonical form', () => {
  const same: readonly (readonly [string, readonly string[]])[] = [
    [
      ADDRESS,
      [
        ADDRESS.toUpperCase(),
        ` ${ADDRESS}\n`,
        `bitcoin:${ADDRESS}`,
        `BITCOIN://${ADDRESS.toUpperCase()}`,
        `bitcoin:?bcrt=${ADDRESS}`,
        `bitcoin:${ADDRESS}?label=Shop#x`,
        `lightning:bitcoin:${ADDRESS}`,
      ],
    ],
    [LEGACY, [`bitcoin:${LEGACY}`]],
    [
      INVOICE,
      [
        INVOICE.toUpperCase(),
        `lightning:${INVOICE}`,
        `LIGHTNING://${INVOICE.toUpperCase()}`,
        `bitcoin:?lightning=${INVOICE}`,
        `BITCOIN:?LIGHTNING=${INVOICE.toUpperCase()}`,
      ],
    ],
    [OFFER, [OFFER.toUpperCase(), OFFER.replace('lno', 'l+ no'), `bitcoin:?lno=${OFFER}`]],
    [PAY_LNURL, [PAY_LNURL.toUpperCase(), `lightning:${PAY_LNURL}`]],
    ['alice@shop.example', ['ALICE@Shop.Example', 'lightning:alice@shop.example']],
    ['₿alice@shop.example', ['₿Alice@shop.example', 'bitcoin:%E2%82%BFalice@shop.example']],
    [
      `bitcoin:${ADDRESS}?amount=1&lno=${OFFER}`,
      [`BITCOIN:${ADDRESS.toUpperCase()}?LNO=${OFFER.toUpperCase()}&AMOUNT=1.0#x`],
    ],
  ];
  for (const [text, spellings] of same) {
    test(text.slice(0, 40), () => {
      for (const spelling of spellings) {
        expect(canonicalPaymentString(spelling)).toBe(canonicalPaymentString(text));
      }
    });
  }
});

test('strings that ask for something else differ', () => {
  const different = [
    ADDRESS,
    addressOf(2),
    LEGACY,
    LEGACY.toLowerCase(),
    `bitcoin:${ADDRESS}?amount=1`,
    `bitcoin:${ADDRESS}?amount=2`,
    `bitcoin:${ADDRESS}?req-x=1`,
    `bitcoin:${ADDRESS}?bcrt=${addressOf(2)}`,
    `bitcoin:${ADDRESS}?amount=x`,
    'alice@shop.example',
    '₿alice@shop.example',
    'lnurlp://shop.example/a',
    'lnurlp://shop.example/A',
    '\u212a@shop.example',
    'k@shop.example',
    '',
    'bitcoin:',
  ].map(canonicalPaymentString);
  expect(new Set(different).size).toBe(different.length);
});
