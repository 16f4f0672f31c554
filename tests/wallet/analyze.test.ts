import { describe, expect, test } from 'bun:test';
import { encodeHashAddress } from '../../src/codecs/address.ts';
import { encodeBip321 } from '../../src/codecs/bip321.ts';
import { encodeLnurl } from '../../src/codecs/lnurl.ts';
import { serviceRefusal } from '../../src/net/service-error.ts';
import { makeOffer } from '../codecs/bolt12-fixtures.ts';
import {
  addressOf,
  analyzed,
  DEAD_LNURL,
  fakeServices,
  invoiceOf,
  kindsOf,
  PAY_LNURL,
  turnedDown,
  WITHDRAW_LNURL,
  WITHDRAW_TERMS,
} from './payment-strings.ts';

const ADDRESS = addressOf(1);
const OFFER = makeOffer().text;
/** 3,000 sats, in the unit of BIP 321. */
const AMOUNT = 'amount=0.00003';

describe('a required parameter that is not known stops the payment (BIP 321)', () => {
  for (const parameter of [
    'req-pop=https%3aevilwebsite.com',
    'REQ-POP=x',
    'req%2Dpop=x',
    'req-new=1',
    'req-sp=sp1q',
    'req-',
    'req-req-lightning=x',
    'pop=x&req-other=1',
  ]) {
    test(parameter, async () => {
      const name =
        decodeURIComponent(parameter)
          .toLowerCase()
          .match(/req-[a-z-]*/)?.[0] ?? '';
      const uri = `bitcoin:${ADDRESS}?${parameter}&lno=${OFFER}`;
      expect(await turnedDown(uri, 'refused')).toContain(`"${name}"`);
      const record = { 'a@example.com': uri };
      expect(await turnedDown('₿a@example.com', 'refused', fakeServices(record))).toContain(name);
    });
  }

  test('a name of control characters is not repeated', async () => {
    const message = await turnedDown(`bitcoin:${ADDRESS}?req-%1b%5b31m=1`, 'refused');
    expect(message).not.toMatch(/\p{C}/u);
    expect(message).toMatch(/requires a parameter/);
  });

  test('one that is known is read, and pop without req- is ignored', async () => {
    const uri = `bitcoin:${ADDRESS}?req-${AMOUNT}&req-label=x&req-lno=${OFFER}&pop=x%3a`;
    expect(await kindsOf(uri)).toEqual(['offer', 'onchain']);
  });
});

describe('a parameter that may stand once is rejected when it stands twice (BIP 321)', () => {
  for (const name of ['amount', 'label', 'message', 'pop']) {
    for (const again of [name, `req-${name}`, name.toUpperCase()]) {
      test(`${name} and ${again}`, async () => {
        expect(await turnedDown(`bitcoin:${ADDRESS}?${name}=1&${again}=1`, 'rejected')).toContain(
          `${name} twice`,
        );
      });
    }
  }
});

describe('a URI whose amounts differ is unusable as a whole', () => {
  const unusable: readonly (readonly [string, string, RegExp])[] = [
    ['an invoice for less', `${AMOUNT}&lightning=${invoiceOf(2_000_000n)}`, /2000 .* 3000 sats/],
    ['an invoice for more', `${AMOUNT}&lightning=${invoiceOf(4_000_000n)}`, /4000 .* 3000 sats/],
    [
      'an expired invoice for more',
      `${AMOUNT}&lightning=${invoiceOf(4_000_000n, { expired: true })}`,
      /4000 .* 3000 sats/,
    ],
    [
      'an invoice of another network for more',
      `${AMOUNT}&lightning=${invoiceOf(4_000_000n, { network: 'bitcoin' })}`,
      /4000 .* 3000 sats/,
    ],
    [
      'one of two invoices for more',
      `lightning=${invoiceOf(3_000_000n)}&${AMOUNT}&lightning=${invoiceOf(4_000_000n)}`,
      /4000 .* 3000 sats/,
    ],
    [
      'an offer that asks for more',
      `${AMOUNT}&lno=${makeOffer({ amount: 3_000_001n }).text}`,
      /at least 3000.001 .* 3000 sats/,
    ],
    [
      'invoices for different amounts, and no amount of its own',
      `lightning=${invoiceOf(3_000_000n)}&lightning=${invoiceOf(4_000_000n)}`,
      /4000 .* 3000 sats/,
    ],
    [
      'an offer that asks for more than the invoice',
      `lno=${makeOffer({ amount: 3_000_001n }).text}&lightning=${invoiceOf(3_000_000n)}`,
      /at least 3000.001 .* 3000 sats/,
    ],
  ];
  for (const [what, parameters, message] of unusable) {
    test(what, async () => {
      expect(await turnedDown(`bitcoin:${ADDRESS}?${parameters}`, 'refused')).toMatch(message);
    });
  }

  test('also when its amount and its methods meet through a name', async () => {
    const records = fakeServices({
      'a@example.com': `bitcoin:?lightning=${invoiceOf(4_000_000n)}&lno=${OFFER}`,
      'b@example.com': `bitcoin:?amount=0.00004&lno=${OFFER}`,
    });
    for (const name of ['a', 'b']) {
      const uri = `bitcoin:₿${name}@example.com?${AMOUNT}`;
      expect(await turnedDown(uri, 'refused', records)).toMatch(/4000 .* 3000 sats/);
    }
  });
});

describe('the amount, label and message of a URI', () => {
  const payables = async (parameters: string) =>
    (await analyzed(`bitcoin:${ADDRESS}?${parameters}`)).payables;

  test('hold for each of its methods, an offer that asks for less and LNURL included', async () => {
    const found = await payables(
      `amount=0.000004&message=Lunch&label=Bar&lno=${makeOffer({ amount: 1n }).text}&lightning=${invoiceOf(null)}&lightning=${PAY_LNURL}`,
    );
    expect(
      found.map(({ kind, amountMsat, amountBeside }) => [kind, amountMsat, amountBeside]),
    ).toEqual([
      ['offer', 400_000n, true],
      ['invoice', 400_000n, true],
      ['lnurl-pay', 400_000n, true],
      ['onchain', 400_000n, true],
    ]);
    // A method's own description takes precedence.
    expect(found.map(({ description }) => description)).toEqual(['tea', 'Coffee', 'Shop', 'Lunch']);
  });

  test('the label is the description where there is no message', async () => {
    expect((await payables('label=Bar'))[0]?.description).toBe('Bar');
    expect((await payables('label=Bar&message='))[0]?.description).toBe('Bar');
    expect((await payables('label=&message='))[0]?.description).toBeNull();
  });

  test('an amount beyond the limits of an LNURL service leaves that method out', async () => {
    for (const amount of ['0.00000009', '0.00000501']) {
      expect(await kindsOf(`bitcoin:${ADDRESS}?amount=${amount}&lightning=${PAY_LNURL}`)).toEqual([
        'onchain',
      ]);
      expect(
        await turnedDown(`bitcoin:?amount=${amount}&lightning=${PAY_LNURL}`, 'refused'),
      ).toMatch(/from 10 to 500 sats/);
    }
  });

  test('hold for a withdrawal too, whose limits its amount narrows', async () => {
    const uri = `bitcoin:?amount=0.00000002&lightning=${WITHDRAW_LNURL}`;
    const [claimable] = (await analyzed(uri)).claimables;
    expect(claimable).toMatchObject({
      amountMsat: 2000n,
      amountBeside: true,
      minMsat: 2000n,
      maxMsat: 2000n,
      description: 'Voucher',
    });
    const silent = fakeServices({}, { ...WITHDRAW_TERMS, defaultDescription: null });
    const described = await analyzed(`bitcoin:?label=Bar&lightning=${WITHDRAW_LNURL}`, silent);
    expect(described.claimables[0]).toMatchObject({
      amountMsat: null,
      minMsat: 1000n,
      maxMsat: 2000n,
      description: 'Bar',
    });
  });

  test('an amount beyond the limits of a withdrawal leaves that method out', async () => {
    const uri = `amount=0.00000003&lightning=${WITHDRAW_LNURL}`;
    expect((await analyzed(`bitcoin:${ADDRESS}?${uri}`)).claimables).toEqual([]);
    expect(await turnedDown(`bitcoin:?${uri}`, 'refused')).toMatch(/from 1 to 2 sats .* for 3\./);
  });

  test('reach no service outside', async () => {
    const services = fakeServices();
    await analyzed(`bitcoin:?amount=0.000004&message=Lunch&lightning=${PAY_LNURL}`, services);
    expect(services.asked).toEqual(['https://shop.example/pay']);
  });
});

describe('a method that cannot be read or reached is left out', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['garbage', 'lightning=garbage'],
    ['nothing', 'lightning='],
    ['an invoice with a wrong checksum', `lightning=${invoiceOf(1000n).slice(0, -1)}q`],
    ['an LNURL with a wrong checksum', `lightning=${PAY_LNURL.slice(0, -1)}q`],
    ['an LNURL to log in', `lightning=${encodeLnurl('https://a.example/?tag=login')}`],
    ['an LNURL to an http service', `lightning=${encodeLnurl('http://a.example/')}`],
    ['a dead LNURL', `lightning=${DEAD_LNURL}`],
    ['a dead Lightning Address', 'lightning=alice@dead.example'],
    ['an address', `lightning=${addressOf(2)}`],
    ['a URI', `lightning=${encodeURIComponent(`bitcoin:${addressOf(2)}`)}`],
    ['a name', `lightning=${encodeURIComponent('₿a@example.com')}`],
    ['a web address', 'lightning=https://shop.example/pay'],
    ['an invoice request', 'lightning=lnr1qq'],
    ['an unreadable offer', 'lno=lno1bogus'],
    ['an invoice as an offer', `lno=${invoiceOf(1000n)}`],
    ['a currency', `lno=${makeOffer({ currency: 'USD', amount: 5n }).text}&${AMOUNT}`],
    ['an expired invoice', `lightning=${invoiceOf(1000n, { expired: true })}`],
  ];
  for (const [what, parameters] of bad) {
    test(`${what}: a good address beside it stays payable, and alone it is an error that says why`, async () => {
      expect(await kindsOf(`bitcoin:${ADDRESS}?${parameters}`)).toEqual(['onchain']);
      const isDead = what.startsWith('a dead');
      const message = await turnedDown(
        `bitcoin:?${parameters}`,
        isDead ? 'serviceFailed' : 'refused',
      );
      expect(message).toMatch(/^[A-Zd].{10,}[.]$/);
    });
  }

  test('a dead service beside another reason is error 106 with both', async () => {
    const message = await turnedDown(
      `bitcoin:?lightning=${DEAD_LNURL}&lightning=garbage`,
      'refused',
    );
    expect(message).toMatch(/dead\.example cannot be reached/);
    expect(message).toMatch(/"lightning" holds no invoice/);
  });

  test('each reason ends like a sentence, also where a service gave it', async () => {
    const refusing = fakeServices();
    refusing.lnurl.discover = () => Promise.reject(serviceRefusal('go away'));
    const uri = `bitcoin:?lightning=${PAY_LNURL}&lightning=garbage`;
    expect(await turnedDown(uri, 'refused', refusing)).toMatch(/holds no .*\. The .*: go away\.$/);
  });

  test('a lone dead LNURL, Lightning Address or URI of one is error 113', async () => {
    for (const text of [
      DEAD_LNURL,
      'alice@dead.example',
      'lnurlp://dead.example/x',
      `bitcoin:?lightning=${DEAD_LNURL}`,
    ]) {
      expect(await turnedDown(text, 'serviceFailed')).toMatch(/dead\.example/);
    }
  });

  test('a name without a record is left out too; alone it is error 107', async () => {
    expect(await kindsOf(`bitcoin:₿nobody@example.com?lno=${OFFER}`)).toEqual(['offer']);
    expect(await turnedDown('bitcoin:₿nobody@example.com', 'notFound')).toMatch(/nobody/);
  });

  test('a URI that names nothing known is error 106', async () => {
    for (const uri of ['bitcoin:', 'bitcoin:?', 'bitcoin:?sp=sp1qsilentpayment', 'bitcoin:?x=1']) {
      expect(await turnedDown(uri, 'refused')).toMatch(/names no way to pay/);
    }
  });

  test('a withdrawal beside an address stands beside it', async () => {
    const { payables, claimables } = await analyzed(
      `bitcoin:${ADDRESS}?lightning=${WITHDRAW_LNURL}`,
    );
    expect(payables.map(({ kind }) => kind)).toEqual(['onchain']);
    expect(claimables).toHaveLength(1);
  });

  test('a method that stands twice, in any spelling, is listed once', async () => {
    const services = fakeServices({ 'a@example.com': `bitcoin:${ADDRESS}?lno=${OFFER}` });
    const uri = `bitcoin:${ADDRESS}?bcrt=${ADDRESS.toUpperCase()}&lno=${OFFER}&lightning=${OFFER.toUpperCase()}`;
    const more = `lightning=${PAY_LNURL}&lightning=${PAY_LNURL.toUpperCase()}&lightning=lnurlp://shop.example/pay`;
    const invoices = `lightning=${invoiceOf(null)}&lightning=${invoiceOf(null).toUpperCase()}`;
    expect(await kindsOf(`${uri}&${more}&${invoices}`, services)).toEqual([
      'offer',
      'invoice',
      'lnurl-pay',
      'onchain',
    ]);
    expect(services.asked).toEqual(['https://shop.example/pay']);
    const named = await analyzed(`bitcoin:₿a@example.com?bcrt=${ADDRESS}&lno=${OFFER}`, services);
    expect(named.payables.map((method) => method.kind === 'offer' && method.viaName)).toEqual([
      'a@example.com',
      false,
    ]);
  });

  test('a URI names ten methods at most, so that one request asks no crowd of services', async () => {
    const services = fakeServices();
    const uri = `bitcoin:?${Array(11).fill(`lightning=${PAY_LNURL}`).join('&')}`;
    expect(await turnedDown(uri, 'rejected', services)).toMatch(/more than 10/);
    expect(services.asked).toEqual([]);
  });
});

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

test('a URI as wallets write it is read whole', async () => {
  const uri = encodeBip321({
    address: ADDRESS,
    invoice: invoiceOf(3_000_000n),
    offer: OFFER,
    amountMsat: 3_000_000n,
    label: 'Bar & Grill #1 + more',
  });
  const { payables } = await analyzed(uri);
  expect(payables.map(({ kind, amountMsat }) => [kind, amountMsat])).toEqual([
    ['offer', 3_000_000n],
    ['invoice', 3_000_000n],
    ['onchain', 3_000_000n],
  ]);
  expect(payables[2]?.description).toBe('Bar & Grill #1 + more');
});
