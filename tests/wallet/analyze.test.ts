import { describe, expect, test } from 'bun:test';
import { encodeLnurl } from '../../src/codecs/lnurl.ts';
import { serviceRefusal } from '../../src/net/service-error.ts';
import { encodeBip321 } from '../support/bip321.ts';
import { makeOffer } from '../support/bolt12-fixtures.ts';
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
