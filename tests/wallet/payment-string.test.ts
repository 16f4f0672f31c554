import { describe, expect, test } from 'bun:test';
import { encodeHashAddress } from '../../src/codecs/address.ts';
import { makeOffer } from '../support/bolt12-fixtures.ts';
import {
  addressOf,
  analyzed,
  fakeServices,
  invoiceOf,
  kindsOf,
  PAY_LNURL,
  turnedDown,
} from './payment-strings.ts';

const ADDRESS = addressOf(1);
const OFFER = makeOffer().text;

describe('bc, tb and bcrt take segwit addresses of that prefix (BIP 321)', () => {
  const legacy = encodeHashAddress('p2pkh', new Uint8Array(20).fill(1), 'regtest') ?? '';
  const cases: readonly (readonly [string, string[]])[] = [
    [`bitcoin:?bcrt=${ADDRESS}`, ['onchain']],
    [`BITCOIN:?BCRT=${ADDRESS.toUpperCase()}`, ['onchain']],
    [`bitcoin:${ADDRESS}?bcrt=${addressOf(2)}&bcrt=${addressOf(3)}`, Array(3).fill('onchain')],
    [`bitcoin:${ADDRESS}?bc=${addressOf(2)}`, ['onchain']],
    [`bitcoin:${ADDRESS}?tb=${addressOf(2)}`, ['onchain']],
    [`bitcoin:${ADDRESS}?bcrt=${legacy}`, ['onchain']],
    [`bitcoin:${legacy}`, ['onchain']],
  ];
  for (const [uri, kinds] of cases) {
    test(uri, async () => expect(await kindsOf(uri)).toEqual(kinds));
  }

  test('what is left out is never paid', async () => {
    for (const name of ['bc', 'tb']) {
      expect(await turnedDown(`bitcoin:?${name}=${ADDRESS}`, 'refused')).toContain(`"${name}"`);
    }
    expect(await turnedDown(`bitcoin:?bcrt=${legacy}`, 'refused')).toContain('"bcrt"');
  });
});

describe('every spelling of one method is read', () => {
  const name = 'alice@shop.example';
  const records = () => fakeServices({ [name]: `bitcoin:?lno=${OFFER}` });
  const plus = OFFER.replace('lno', 'l+no').replace(/(.{20})/g, '$1+ ');
  const cases: readonly (readonly [string, string])[] = [
    [ADDRESS, 'onchain'],
    [ADDRESS.toUpperCase(), 'onchain'],
    [`bitcoin:${ADDRESS}`, 'onchain'],
    [`bitcoin://${ADDRESS}`, 'onchain'],
    [`BITCOIN://${ADDRESS.toUpperCase()}?AMOUNT=1`, 'onchain'],
    [`bitcoin://${ADDRESS}/?amount=1`, 'onchain'],
    [`bitcoin:${ADDRESS}/`, 'onchain'],
    [`bitcoin:/?bcrt=${ADDRESS}`, 'onchain'],
    [`bitcoin:${ADDRESS}#about`, 'onchain'],
    [`bitcoin:${ADDRESS}?amount=1#amount=2&req-x=1`, 'onchain'],
    [` \n${ADDRESS}\t`, 'onchain'],
    [`lightning:bitcoin:${ADDRESS}`, 'onchain'],
    ['bitcoin:₿alice@shop.example', 'offer'],
    ['bitcoin:%E2%82%BFalice@shop.example', 'offer'],
    ['BITCOIN:%e2%82%bf%61lice%40shop.example', 'offer'],
    ['bitcoin://₿alice@shop.example?label=x#y', 'offer'],
    ['₿Alice@Shop.Example', 'offer'],
    ['%E2%82%BFalice%40shop.example', 'offer'],
    ['lightning:₿alice@shop.example', 'offer'],
    ['alice%40shop.example', 'lnurl-pay'],
    ['lightning:ALICE@SHOP.EXAMPLE', 'lnurl-pay'],
    [OFFER, 'offer'],
    [OFFER.toUpperCase(), 'offer'],
    [plus, 'offer'],
    [plus.toUpperCase(), 'offer'],
    [`LIGHTNING:${plus}`, 'offer'],
    [`bitcoin:?lno=${plus}`, 'offer'],
    [`bitcoin:?lno=${encodeURIComponent(plus)}`, 'offer'],
    [`bitcoin:?lightning=${OFFER}`, 'offer'],
    [invoiceOf(null), 'invoice'],
    [`lightning://${invoiceOf(null).toUpperCase()}`, 'invoice'],
    [`bitcoin:?lightning=lightning:${invoiceOf(null)}`, 'invoice'],
    [PAY_LNURL.toUpperCase(), 'lnurl-pay'],
    [`lightning:${PAY_LNURL}`, 'lnurl-pay'],
    [`bitcoin:?lightning=${PAY_LNURL}`, 'lnurl-pay'],
    ['lnurlp://shop.example/pay', 'lnurl-pay'],
    ['lightning:lnurlp:shop.example/pay', 'lnurl-pay'],
    [`https://a.example/x?id=1&lightning=${PAY_LNURL.toUpperCase()}#extra`, 'lnurl-pay'],
    [`lightning:https://a.example/?LIGHTNING=${PAY_LNURL}`, 'lnurl-pay'],
    [`HTTPS://A.EXAMPLE/?LIGHTNING=${PAY_LNURL.toUpperCase()}`, 'lnurl-pay'],
  ];
  for (const [text, kind] of cases) {
    test(JSON.stringify(text.slice(0, 60)), async () => {
      const services = records();
      expect(await kindsOf(text, services)).toEqual([kind]);
      for (const asked of services.asked) expect(asked).toContain('shop.example');
    });
  }

  test('what stands for the single method is its canonical text', async () => {
    const textOf = async (text: string) => (await analyzed(text, records())).payables[0]?.text;
    const invoice = invoiceOf(5000n);
    expect(await textOf(`lightning:${invoice.toUpperCase()}`)).toBe(invoice);
    expect(await textOf(`bitcoin:?bcrt=${ADDRESS.toUpperCase()}`)).toBe(ADDRESS);
    expect(await textOf(plus)).toBe(OFFER);
    expect(await textOf(`https://a.example/?lightning=${PAY_LNURL.toUpperCase()}`)).toBe(PAY_LNURL);
    expect(await textOf('lightning:ALICE@SHOP.EXAMPLE')).toBe(name);
    expect(await textOf('bitcoin:₿alice@shop.example')).toBe(OFFER);
  });

  test('an offer found under a name carries the name, and comes before another beside it', async () => {
    const uri = `bitcoin:₿${name}?lno=${makeOffer({ description: 'own' }).text}`;
    const { payables } = await analyzed(uri, records());
    expect(
      payables.map((method) => [method.description, method.kind === 'offer' && method.viaName]),
    ).toEqual([
      ['tea', name],
      ['own', null],
    ]);
  });

  test('a record that leads to another name is an unusable answer', async () => {
    const services = fakeServices({ [name]: 'bitcoin:₿bob@shop.example' });
    expect(await turnedDown(`₿${name}`, 'serviceFailed', services)).toMatch(/another name/);
    expect(services.asked).toEqual([name]);
  });
});

describe('what is no payment string is error 7 that says what is', () => {
  for (const text of [
    'hello',
    'hello world',
    '%',
    'lnfoo1qqqq',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    'ethereum:0x5290',
    'bitcoin ',
    'bitcoin：bc1q',
    '{"a":1}',
    'https://shop.example/pay',
    `https://shop.example/?x=${PAY_LNURL}`,
    `https://shop.example/?lightning=${invoiceOf(null)}`,
    'http://shop.example',
    `http://shop.example/?lightning=${PAY_LNURL}`,
  ]) {
    test(text.slice(0, 50), async () => {
      const message = await turnedDown(text, 'rejected');
      expect(message).toMatch(/no payment string known here/);
      for (const known of [
        'bitcoin:',
        'BOLT 11',
        'BOLT 12',
        'address',
        'LNURL',
        'Lightning Address',
        '₿',
      ]) {
        expect(message).toContain(known);
      }
    });
  }

  test('what was meant as one, and copied badly, says what is wrong with it', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      [`${ADDRESS.slice(0, -1)}q`, /on-chain address.*checksum/],
      ['1RustyRX2oai4EYYDpQGWvEL62BBGqN9U', /on-chain address/],
      [invoiceOf(null).slice(0, -3), /invoice cannot be read/],
      ['lno1qq', /offer is not valid/],
      ['lno1pg x', /%2B/],
      [`${PAY_LNURL}q`, /LNURL cannot be used/],
      ['฿alice@shop.example', /Lightning Address/],
      ['alice@bücher.example', /xn--/],
      ['\u212aate@shop.example', /Lightning Address/],
      ['₿\u212aate@shop.example', /Human Bitcoin Address/],
      ['₿₿alice@shop.example', /Human Bitcoin Address/],
      ['lnr1qq', /invoice request/],
      ['ln+p1qq', /payer proof/],
    ];
    for (const [text, message] of cases) {
      expect(await turnedDown(text, 'rejected')).toMatch(message);
    }
  });
});
