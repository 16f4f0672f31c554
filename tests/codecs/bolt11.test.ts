import { describe, expect, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, hex } from '@scure/base';
import fc from 'fast-check';
import {
  amountMsatOf,
  decodeBolt11,
  descriptionOf,
  encodeBolt11,
  expiresAtMsOf,
  timestampOf,
} from '../../src/codecs/bolt11/index.ts';
import { SIGNATURE_WORDS, signedBytes } from '../../src/codecs/bolt11/invoice.ts';
import { CodecError } from '../../src/codecs/codec-error.ts';
import vectors from '../vectors/bolt11-examples.json';
import { expectInvalid } from './expect-invalid.ts';

const KEY = hex.decode(vectors.signing_private_key_stated);
const SECRET = '11'.repeat(32);
const HASH = '0001020304050607080900010203040506070809000102030405060708090102';
const PAYEE = '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad';

interface Stated {
  readonly prefix: string;
  readonly network: string;
  readonly amount?: string;
  readonly timestamp?: number;
  readonly payment_hash?: string;
  readonly payment_secret?: string;
  readonly description?: string;
  readonly description_hash?: string;
  readonly expiry_seconds?: number;
  readonly payee_node_id?: string;
  readonly fallback_addresses?: readonly string[];
  readonly payment_metadata?: string;
  readonly routes?: readonly (readonly StatedHop[])[];
  readonly signature_rs_hex?: string;
  readonly recovery_flag?: number;
  readonly signing_data_hex?: string;
  readonly signing_sha256_hex?: string;
  /** This example is the one before it, in upper case. */
  readonly same_as?: string;
}

interface StatedHop {
  readonly pubkey: string;
  readonly short_channel_id: string;
  readonly fee_base_msat: number;
  readonly fee_proportional_millionths: number;
  readonly cltv_expiry_delta: number;
}

/** `<block>x<transaction>x<output>` of an 8-byte short channel id. */
function shortChannelIdText(id: string): string {
  return [id.slice(0, 6), id.slice(6, 12), id.slice(12)]
    .map((part) => parseInt(part, 16))
    .join('x');
}

describe('every valid example of BOLT 11 is read as stated', () => {
  for (const vector of vectors.valid) {
    // BOLT 11 lists this as valid, although it breaks its own rule about field lengths. The strict reading is safer.
    if ('disputed' in vector) continue;
    test(vector.id.slice(0, 70), () => {
      const invoice = decodeBolt11(vector.invoice);
      const stated: Stated = vector.stated;
      expect(`Bitcoin ${invoice.network === 'bitcoin' ? 'mainnet' : invoice.network}`).toBe(
        stated.network,
      );
      expect(invoice.text).toStartWith(stated.prefix);
      expect(invoice.text).toBe(vector.invoice.toLowerCase());
      if (stated.same_as) {
        const before = vectors.valid[vectors.valid.indexOf(vector) - 1]?.invoice ?? '';
        expect(invoice).toEqual(decodeBolt11(before));
      }
      if (stated.routes) {
        expect(
          invoice.routeHints.map((route) =>
            route.map((hop) => ({
              pubkey: hop.pubkey,
              short_channel_id: shortChannelIdText(hop.shortChannelId),
              fee_base_msat: hop.feeBaseMsat,
              fee_proportional_millionths: hop.feeProportionalMillionths,
              cltv_expiry_delta: hop.cltvExpiryDelta,
            })),
          ),
        ).toEqual(stated.routes.map((route) => [...route]));
      }
      if (vector.derived) {
        expect([...invoice.features].toSorted((a, b) => a - b)).toEqual(
          vector.derived.feature_bits,
        );
        expect(invoice.amountMsat?.toString() ?? null).toBe(vector.derived.amount_msat);
      }
      expect(invoice.amountMsat).toBe(stated.amount ? msatOf(stated.amount) : null);
      if (stated.timestamp) expect(invoice.timestampSecs).toBe(stated.timestamp);
      if (stated.payment_hash) expect(invoice.paymentHash).toBe(stated.payment_hash);
      if (stated.payment_secret) expect(invoice.paymentSecret).toBe(stated.payment_secret);
      if (stated.description) expect(invoice.description).toBe(stated.description);
      if (stated.description_hash) expect(invoice.descriptionHash).toBe(stated.description_hash);
      if (stated.expiry_seconds) expect(invoice.expirySecs).toBe(stated.expiry_seconds);
      if (stated.payee_node_id) expect(invoice.payeePubkey).toBe(stated.payee_node_id);
      if (stated.fallback_addresses) {
        expect(invoice.fallbackAddresses).toEqual([...stated.fallback_addresses]);
      }
      if (stated.payment_metadata) expect(invoice.metadata).toBe(stated.payment_metadata);
    });
  }
});

describe('what each example of BOLT 11 is signed over, and its signature, are as stated', () => {
  const signed = vectors.valid.flatMap(({ id, invoice, stated }) =>
    'signing_data_hex' in stated ? [{ id, invoice, stated }] : [],
  );
  test('most of them state it', () => expect(signed.length).toBeGreaterThan(5));
  for (const { id, invoice, stated } of signed) {
    test(id.slice(0, 70), () => {
      const { prefix, words } = bech32.decode(invoice as `${string}1${string}`, false);
      const bytes = signedBytes(prefix, words.slice(0, -SIGNATURE_WORDS));
      expect(hex.encode(bytes)).toBe(stated.signing_data_hex ?? '');
      expect(hex.encode(sha256(bytes))).toBe(stated.signing_sha256_hex ?? '');
      expect(hex.encode(bech32.fromWords(words.slice(-SIGNATURE_WORDS)))).toBe(
        `${stated.signature_rs_hex}0${stated.recovery_flag}`,
      );
    });
  }
});

const REASONS: Readonly<Record<string, RegExp>> = {
  'Same, but adding invalid unknown feature 100': /requires feature 100/,
  'Bech32 checksum is invalid.': /not a BOLT 11 string/,
  'Malformed bech32 string (no 1)': /not a BOLT 11 string/,
  'Signature is not recoverable.': /does not fit any key/,
  'String is too short.': /not a BOLT 11 string|too short/,
  'Invalid sub-millisatoshi precision.': /not a BOLT 11 string/,
  'Missing required `s` field.': /no payment secret/,
};

describe('every invalid example of BOLT 11 is refused for its reason', () => {
  for (const vector of vectors.invalid) {
    test(vector.reason, () => {
      const reason = REASONS[vector.reason] ?? /more than one payment hash/;
      expectInvalid(() => decodeBolt11(vector.invoice), 'bolt11', reason);
    });
  }
});

test('an invoice whose payment hash has another length is refused, though an old example lists it as valid', () => {
  const disputed = vectors.valid.find((vector) => 'disputed' in vector);
  expect(() => decodeBolt11(disputed?.invoice ?? '')).toThrow(CodecError);
});

test('writing is deterministic and gives the first example byte for byte', () => {
  const text = encodeBolt11(
    {
      network: 'bitcoin',
      amountMsat: null,
      timestampSecs: 1496314658,
      paymentSecret: SECRET,
      paymentHash: HASH,
      description: 'Please consider supporting this project',
      features: [8, 14],
    },
    KEY,
  );
  expect(text).toBe(vectors.valid[0]?.invoice ?? '');
});

test('a signature by another key than the payee named is refused', () => {
  const text = encodeBolt11(
    {
      network: 'regtest',
      amountMsat: 1n,
      timestampSecs: 1,
      paymentSecret: SECRET,
      paymentHash: HASH,
      description: '',
      payeePubkey: `02${'22'.repeat(32)}`,
      features: [8, 14],
    },
    KEY,
  );
  expectInvalid(() => decodeBolt11(text), 'bolt11', /not by the payee/);
});

test('an invoice without description and description hash cannot be written', () => {
  const fields = {
    network: 'regtest',
    amountMsat: null,
    timestampSecs: 1,
    paymentSecret: SECRET,
    paymentHash: HASH,
  } as const;
  expectInvalid(() => encodeBolt11(fields, KEY), 'bolt11', /description/);
});

test('reading gives back what was written', () => {
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex.encode);
  const written = fc.record({
    network: fc.constantFrom('bitcoin', 'testnet', 'signet', 'regtest'),
    amountMsat: fc.option(fc.bigInt(1n, 2_100_000_000_000_000_000n)),
    timestampSecs: fc.integer({ min: 0, max: 2 ** 35 - 1 }),
    paymentSecret: hash,
    paymentHash: hash,
    description: fc.string({ maxLength: 150, unit: 'grapheme' }),
    expirySecs: fc.integer({ min: 1, max: 2 ** 31 }),
    minFinalCltvExpiryDelta: fc.integer({ min: 1, max: 2 ** 16 }),
  });
  fc.assert(
    fc.property(written, (fields) => {
      if (Buffer.byteLength(fields.description) > 639) return;
      const read = decodeBolt11(encodeBolt11({ ...fields, features: [8, 14, 17] }, KEY));
      expect(read).toMatchObject({ ...fields, payeePubkey: PAYEE });
      expect([...read.features].toSorted((a, b) => a - b)).toEqual([8, 14, 17]);
    }),
    { numRuns: 60 },
  );
});

test('route hints, fallback addresses and metadata are read as written', () => {
  const routeHints = [
    [
      {
        pubkey: PAYEE,
        shortChannelId: '0102030405060708',
        feeBaseMsat: 1,
        feeProportionalMillionths: 20,
        cltvExpiryDelta: 3,
      },
    ],
  ];
  const fallbackAddresses = ['bcrt1q6z64a43mjgkcq0ul2znwneq3spghrlau9slefp'];
  const text = encodeBolt11(
    {
      network: 'regtest',
      amountMsat: null,
      timestampSecs: 5,
      paymentSecret: SECRET,
      paymentHash: HASH,
      descriptionHash: '22'.repeat(32),
      metadata: '01fafaf0',
      routeHints,
      fallbackAddresses,
      features: [8, 14],
    },
    KEY,
  );
  expect(decodeBolt11(text)).toMatchObject({
    routeHints,
    fallbackAddresses,
    metadata: '01fafaf0',
    descriptionHash: '22'.repeat(32),
    description: null,
  });
});

test('the timestamp alone is read as the whole invoice tells it', () => {
  for (const { invoice } of vectors.valid.filter((vector) => !('disputed' in vector))) {
    expect(timestampOf(invoice)).toBe(decodeBolt11(invoice).timestampSecs);
    expect(timestampOf(invoice.toUpperCase())).toBe(timestampOf(invoice));
  }
  for (const text of ['', 'lnbc', 'lnbc1qqq', 'lnbc1bbbbbbb']) {
    expectInvalid(() => timestampOf(text), 'bolt11', /timestamp/);
  }
});

test('the description alone is read as the whole invoice tells it', () => {
  const invoices = vectors.valid.filter((vector) => !('disputed' in vector));
  for (const { invoice } of invoices) {
    expect(descriptionOf(invoice)).toBe(decodeBolt11(invoice).description);
  }
  expect(new Set(invoices.map(({ invoice }) => typeof descriptionOf(invoice))).size).toBe(2);
  expectInvalid(
    () => descriptionOf(`lnbc1${'q'.repeat(7)}dlll${'l'.repeat(110)}`),
    'bolt11',
    /cut/,
  );
});

test('the amount alone is read as the whole invoice tells it', () => {
  const invoices = vectors.valid.filter((vector) => !('disputed' in vector));
  for (const { invoice } of invoices) {
    const { amountMsat } = decodeBolt11(invoice);
    expect(amountMsatOf(invoice)).toBe(amountMsat);
    expect(amountMsatOf(invoice.toUpperCase())).toBe(amountMsat);
  }
  expect(new Set(invoices.map(({ invoice }) => typeof amountMsatOf(invoice))).size).toBe(2);
  for (const text of ['', 'lnbc', 'lnxy1qqq', 'lnbc5x1qqq', 'lni1qqq']) {
    expectInvalid(() => amountMsatOf(text), 'bolt11', /./);
  }
});

test('no amount is read from a text without a separator, nor from one that no invoice is as long as', () => {
  for (const text of ['lnbc5mx', 'lnbcx', 'lnbcrt20ux']) {
    expectInvalid(() => amountMsatOf(text), 'bolt11', /part of it was lost/);
    expectInvalid(() => decodeBolt11(text), 'bolt11', /part of it was lost/);
  }
  const long = `lnbc${'0'.repeat(8000)}5m1qqq`;
  expectInvalid(() => amountMsatOf(long), 'bolt11', /it is too long/);
  expectInvalid(() => decodeBolt11(long), 'bolt11', /it is too long/);
});

test('the end alone is read as the whole invoice tells it: its expiry, or an hour', () => {
  for (const { invoice } of vectors.valid.filter((vector) => !('disputed' in vector))) {
    const { timestampSecs, expirySecs, expiresAtMs } = decodeBolt11(invoice);
    expect(expiresAtMsOf(invoice)).toBe(expiresAtMs);
    expect(expiresAtMsOf(invoice.toUpperCase())).toBe((timestampSecs + expirySecs) * 1000);
  }
  const fields = {
    network: 'regtest',
    amountMsat: null,
    timestampSecs: 1_700_000_000,
    paymentHash: HASH,
    paymentSecret: SECRET,
    description: 'x',
    features: [8, 14],
  } as const;
  const endOf = (changes: object) => expiresAtMsOf(encodeBolt11({ ...fields, ...changes }, KEY));
  expect(endOf({})).toBe(1_700_003_600_000);
  expect(endOf({ expirySecs: 60 })).toBe(1_700_000_060_000);
  for (const text of ['', 'lnbc', 'lnbc1bbbbbbb']) {
    expectInvalid(() => expiresAtMsOf(text), 'bolt11', /timestamp/);
  }
  // Fields of which only the head is left, then as many words as a signature and a checksum have.
  const [expiry, description] = ['xlll', 'dlll'];
  for (const field of [expiry, description, 'x', 'xp']) {
    const text = `lnbc1${'q'.repeat(7)}${field}${'l'.repeat(110)}`;
    expectInvalid(() => expiresAtMsOf(text), 'bolt11', /cut off/);
  }
  expectInvalid(
    () => expiresAtMsOf(`lnbc1${'q'.repeat(7)}b${'l'.repeat(112)}`),
    'bolt11',
    /not bech32/,
  );
});

test('no string makes the reader throw anything but its own error', () => {
  const start = vectors.valid[0]?.invoice ?? '';
  const mutated = fc
    .tuple(fc.nat(start.length - 1), fc.string({ maxLength: 5 }))
    .map(([at, piece]) => start.slice(0, at) + piece + start.slice(at + piece.length));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        mutated,
        fc.string().map((text) => `lnbc1${text}`),
      ),
      (text) => {
        try {
          decodeBolt11(text);
        } catch (error) {
          expect(error).toBeInstanceOf(CodecError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

function msatOf(amount: string): bigint {
  const units: Readonly<Record<string, bigint>> = { m: 100_000_000n, u: 100_000n, n: 100n };
  const unit = units[amount.slice(-1)];
  return unit ? BigInt(amount.slice(0, -1)) * unit : BigInt(amount) * 100_000_000_000n;
}

describe('what was read a moment ago', () => {
  const terms = {
    network: 'regtest',
    amountMsat: 1n,
    paymentSecret: SECRET,
    paymentHash: HASH,
    description: '',
  } as const;
  const madeAt = (timestampSecs: number) => encodeBolt11({ ...terms, timestampSecs }, KEY);

  test('is not read again', () => {
    const text = madeAt(1);
    expect(decodeBolt11(text)).toBe(decodeBolt11(text));
    const first = decodeBolt11(text);
    for (let secs = 2; secs < 100; secs++) decodeBolt11(madeAt(secs), { verifySignature: false });
    expect(decodeBolt11(text)).not.toBe(first);
    expect(decodeBolt11(text)).toEqual(first);
  });

  test('and not checked, is checked for a caller who asks for that', () => {
    const text = madeAt(1000);
    expect(decodeBolt11(text, { verifySignature: false }).payeePubkey).toBe('');
    expect(decodeBolt11(text).payeePubkey).toBe(PAYEE);
    expect(decodeBolt11(text, { verifySignature: false }).payeePubkey).toBe('');

    const named = { ...terms, timestampSecs: 1001, payeePubkey: `02${'ab'.repeat(32)}` };
    const forged = encodeBolt11(named, KEY);
    for (let time = 0; time < 2; time++) {
      expect(decodeBolt11(forged, { verifySignature: false }).payeePubkey).toBe(named.payeePubkey);
      expectInvalid(() => decodeBolt11(forged), 'bolt11', /not by the payee/);
    }
  });
});

describe('an amount', () => {
  const read = (prefix: string) => {
    const text = encodeBolt11(
      {
        network: 'bitcoin',
        amountMsat: null,
        timestampSecs: 1,
        paymentSecret: SECRET,
        paymentHash: HASH,
        description: '',
      },
      KEY,
    );
    const { words } = bech32.decode(text as `${string}1${string}`, false);
    return decodeBolt11(bech32.encode(prefix, words, false), { verifySignature: false });
  };

  test.each([
    ['lnbc', null],
    ['lnbc1', 100_000_000_000n],
    ['lnbc20m', 2_000_000_000n],
    ['lnbc0020u', 2_000_000n],
    ['lnbc1n', 100n],
    ['lnbc10p', 1n],
    ['lnbc21000000', 2_100_000_000_000_000_000n],
  ] as const)('%s', (prefix, msat) => expect(read(prefix).amountMsat).toBe(msat));

  test.each([
    ['lnbc21000001', /not a BOLT 11 string/],
    ['lnbc11p', /not a BOLT 11 string/],
    ['lnbc1k', /not a BOLT 11 string/],
    ['lnbcm', /network is not supported/],
    ['lnltc1m', /network is not supported/],
    ['lnbc0m', /amount is zero/],
    ['lnbc-1m', /not a BOLT 11 string/],
    ['lnbc1.5m', /not a BOLT 11 string/],
    ['bc1m', /not a BOLT 11 string/],
  ] as const)('%s is invalid', (prefix, reason) =>
    expectInvalid(() => read(prefix), 'bolt11', reason),
  );
});
