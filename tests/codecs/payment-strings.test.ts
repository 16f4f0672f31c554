import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeBip321 } from '../../src/codecs/bip321.ts';
import { CodecError } from '../../src/codecs/codec-error.ts';
import {
  decodeHumanBitcoinAddress,
  encodeHumanBitcoinAddress,
} from '../../src/codecs/human-bitcoin-address.ts';
import { decodeLightningAddress } from '../../src/codecs/lightning-address.ts';
import { decodeLnurl, encodeLnurl } from '../../src/codecs/lnurl.ts';
import { parsePaymentString } from '../../src/wallet/strings/payment-string.ts';
import { encodeBip321 } from '../support/bip321.ts';
import { rounds } from '../support/rounds.ts';
import offers from '../vectors/bolt12-offers-test.json';
import instructions from '../vectors/payment-instructions.json';
import { expectInvalid } from './expect-invalid.ts';

/** The values that the vectors state for a payment instruction. */
interface Stated {
  readonly methods?: readonly string[];
  readonly kind?: string;
  readonly amount?: null;
  readonly amount_sats?: string;
  readonly amount_msat?: string;
  readonly address?: string;
  readonly invoice?: string;
  readonly lnurl?: string;
}
const NAMES_OF_KINDS = { onchain: 'onchain', invoice: 'bolt11', offer: 'bolt12', lnurl: 'lnurl' };

describe('every payment instruction is read as stated', () => {
  for (const { id, input, network, stated } of instructions.strings as readonly {
    readonly id: string;
    readonly input: string;
    readonly network?: string;
    readonly stated: Stated;
  }[]) {
    test(id, () => {
      const { methods, unreadable, amountMsat } = parsePaymentString(input);
      expect(unreadable).toEqual([]);
      // The fallback address inside an invoice does not count as a payment method.
      const named = stated.methods?.filter((name) => name !== 'onchain' || !/^lnbc/.test(input));
      expect(methods.map(({ kind }) => NAMES_OF_KINDS[kind]).toSorted()).toEqual(
        (named ?? [stated.kind ?? '']).toSorted(),
      );
      if (stated.amount_sats) expect(amountMsat).toBe(BigInt(stated.amount_sats) * 1000n);
      if (stated.amount === null) expect(amountMsat).toBeNull();
      for (const method of methods) {
        if (method.kind === 'onchain') {
          if (network) expect(method.address.networks.map(String)).toContain(network);
          if (stated.address) expect(method.address.canonical).toBe(stated.address);
        } else if (method.kind === 'invoice') {
          expect<string | undefined>(method.invoice.network).toBe(network);
          if (stated.amount_msat)
            expect(method.invoice.amountMsat).toBe(BigInt(stated.amount_msat));
          if (stated.invoice) expect(method.invoice.text).toBe(stated.invoice);
          expect(method.invoice.fallbackAddresses.length > 0).toBe(
            named !== undefined && named.length < (stated.methods?.length ?? 0),
          );
        } else if (method.kind === 'lnurl' && stated.lnurl) {
          expect(method.text).toBe(stated.lnurl.toLowerCase());
        }
      }
    });
  }

  test('the LNURL of a Lightning Address leads where the address leads', () => {
    const vector = instructions.strings.find(({ id }) => id === 'lnurl-of-lightning-address');
    expect(decodeLnurl(vector?.input ?? '').url).toBe(
      decodeLightningAddress('lnurltest@bitcoin.ninja').url,
    );
  });

  test('a label or message fills the description, also where the parser of the vectors ignores it', () => {
    const descriptions = instructions.strings
      .filter(({ input }) => input.startsWith('bitcoin:'))
      .map(({ input }) => parsePaymentString(input).description);
    expect(descriptions).toEqual(['Donation for project xyz', 'For lunch Tuesday', 'yooo']);
  });
});

describe('every wrapping gives what the bare string gives, in upper case too', () => {
  const bare = {
    '{invoice}': instructions.strings.find(({ id }) => id === 'bolt11')?.input ?? '',
    '{offer}': offers.find(({ description }) => description.startsWith('Minimal'))?.bolt12 ?? '',
  };
  for (const { id, template } of instructions.wrappings) {
    test(id, () => {
      for (const [place, text] of Object.entries(bare)) {
        if (!template.includes(place)) continue;
        const wrapped = template.replace(place, text);
        const { methods } = parsePaymentString(text);
        expect(methods).toHaveLength(1);
        for (const spelling of [wrapped, wrapped.toUpperCase()]) {
          expect(parsePaymentString(spelling)).toMatchObject({ methods, unreadable: [] });
        }
      }
    });
  }
});

test('the domain of a Human Bitcoin Address may hold underscores, and the name must fit the DNS', () => {
  const { name } = parsePaymentString('₿a.x_wild@dnssec_proof_tests._x.bitcoin.ninja');
  expect(name).toMatchObject({
    dnsName: 'a.x_wild.user._bitcoin-payment.dnssec_proof_tests._x.bitcoin.ninja',
  });
  const domain = `${'a'.repeat(60)}.`.repeat(3);
  expect(() => decodeHumanBitcoinAddress(`a@${domain}com`)).not.toThrow();
  const human = 'human-bitcoin-address';
  expectInvalid(() => decodeHumanBitcoinAddress(`${'a'.repeat(60)}@${domain}com`), human, /long/);
  expectInvalid(() => decodeHumanBitcoinAddress('a..b@example.com'), human, /before @/);
  expect(() => decodeLightningAddress('a@under_score.example')).toThrow(CodecError);
});

test('reading gives back what was written', () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,10}$/);
  fc.assert(
    fc.property(name, name, (username, label) => {
      const address = { username, domain: `${label}.example` };
      const text = encodeHumanBitcoinAddress(address);
      expect(decodeHumanBitcoinAddress(text)).toMatchObject(address);
      expect(decodeLnurl(encodeLnurl(`https://${label}.example/${username}`)).url).toBe(
        `https://${label}.example/${username}`,
      );
    }),
  );
  fc.assert(
    fc.property(
      fc.bigInt(1n, 2_100_000_000_000_000n),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      (sats, label, message) => {
        fc.pre(label.isWellFormed() && message.isWellFormed());
        const parts = {
          amountMsat: sats * 1000n,
          label,
          message,
          offer: 'lno1x',
          invoice: 'lnbc1y',
        };
        expect(decodeBip321(encodeBip321(parts))).toMatchObject({
          amountMsat: parts.amountMsat,
          label,
          message,
          offers: ['lno1x'],
          lightning: ['lnbc1y'],
        });
      },
    ),
  );
});

test('no string makes the parser throw anything but a codec error', () => {
  const prefixes = [
    '',
    'bitcoin:',
    'lightning:',
    'lnurl1',
    'lnurlp://',
    '₿',
    'a@',
    'https://',
    'lno1',
  ];
  const strings = fc
    .tuple(fc.constantFrom(...prefixes), fc.string({ unit: 'binary' }))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(strings, (text) => {
      try {
        parsePaymentString(text);
      } catch (error) {
        expect(error).toBeInstanceOf(CodecError);
      }
    }),
    { numRuns: rounds(1500, 10_000) },
  );
});
