import { describe, expect, test } from 'bun:test';
import { type ServedRecord, TYPES, txtData } from '../../support/dns-writer.ts';
import { openSignedTree } from '../../support/signed-tree.ts';
import { dsData, makeKey, signRecords, type ZoneKey } from '../../support/zone-keys.ts';
import { change, goodTree, NAME, NOW, ofType, PAYMENT, txt } from './good-tree.ts';
import { expectUnproven, flipped, isRefusal, prove } from './prove.ts';

const DAY = 86_400;

/** Makes a key with another tag than those have: a signature names its key by the tag alone, of 16 bits. */
function strangerTo(...others: readonly ZoneKey[]): ZoneKey {
  for (;;) {
    const key = makeKey();
    if (others.every(({ keyTag }) => keyTag !== key.keyTag)) return key;
  }
}

describe('a signed record is proven', () => {
  test('by a chain from the root, its strings joined with nothing between', async () => {
    const tree = goodTree();
    expect(await prove(tree, NAME)).toEqual({ texts: [PAYMENT], holdsSecs: 60 });
    const data = txtData('bitcoin:', '?lno=', Buffer.from([0xe2]), Buffer.from([0x82, 0xbf]));
    tree.serve(NAME, TYPES.TXT, tree.signed([{ name: NAME, type: TYPES.TXT, ttl: 60, data }]));
    expect((await prove(tree, NAME))?.texts).toEqual(['bitcoin:?lno=₿']);
    tree.txt(NAME, ['x'.repeat(3000), 'other', 'third']);
    expect((await prove(tree, NAME))?.texts).toEqual(['x'.repeat(3000), 'other', 'third']);
  });

  for (const [algorithm, bits] of [[8, 1024], [8, 2048], [10, 2048], [13], [14], [15]] as const) {
    test(`by keys of algorithm ${algorithm} ${bits ? `of ${bits} bits` : ''}`, async () => {
      const tree = openSignedTree({ nowSecs: NOW });
      const key = (flags: number) => makeKey({ algorithm, flags, ...(bits ? { bits } : {}) });
      tree.zone('com', { ksk: key(257), zsk: key(256), digestTypes: [1, 4] });
      tree.txt('a.com', [PAYMENT]);
      expect((await prove(tree, 'a.com'))?.texts).toEqual([PAYMENT]);
    });
  }

  test('in any case of letters and order of records, and with other records beside it', async () => {
    const tree = goodTree();
    const others = tree.signed(txt('eve.user._bitcoin-payment.example.com', 'bitcoin:?lno=eve'));
    change(tree, [NAME, TYPES.TXT], (records) => [
      ...others,
      ...txt(`x.${NAME}`, 'unsigned'),
      ...records.toReversed().map((record) => ({ ...record, name: record.name.toUpperCase() })),
    ]);
    change(tree, ['example.com', TYPES.DNSKEY], (records) => records.toReversed());
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
  });

  test('and counts once, though a resolver carries it twice', async () => {
    const tree = goodTree();
    change(tree, [NAME, TYPES.TXT], (records) => [...records, ...records]);
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
  });

  test('also where a signature beside the good one is wrong', async () => {
    const tree = goodTree();
    const bad = { labels: 1, algorithm: 5 };
    const stray = tree.signed(txt(NAME, 'x'), bad).slice(1);
    change(tree, [NAME, TYPES.TXT], (records) => [...stray, ...records]);
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
  });

  test('for as long as the lowest signed TTL, and no longer than any signature', async () => {
    const tree = openSignedTree({ nowSecs: NOW });
    tree.zone('com', { ttl: 40 });
    tree.txt('a.com', [PAYMENT], 50);
    expect((await prove(tree, 'a.com'))?.holdsSecs).toBe(40);
    const set = txt('a.com', PAYMENT);
    // A resolver can only make the TTL shorter.
    const served = tree.signed(set, { originalTtl: 30 });
    tree.serve(
      'a.com',
      TYPES.TXT,
      served.map((record) => ({ ...record, ttl: 1_000_000 })),
    );
    expect((await prove(tree, 'a.com'))?.holdsSecs).toBe(30);
    tree.serve(
      'a.com',
      TYPES.TXT,
      served.map((record) => ({ ...record, ttl: 7 })),
    );
    expect((await prove(tree, 'a.com'))?.holdsSecs).toBe(7);
    tree.serve('a.com', TYPES.TXT, tree.signed(set, { expirationSecs: NOW + 3 }));
    expect((await prove(tree, 'a.com'))?.holdsSecs).toBe(3);
  });

  test('and a name without records has none', async () => {
    expect(await prove(goodTree(), 'none.example.com')).toBeNull();
  });
});

describe('a change is refused', () => {
  test('of one bit: of a record, its signature, a DS, a key', async () => {
    const changes: readonly (readonly [string, number, number, number, RegExp])[] = [
      [NAME, TYPES.TXT, TYPES.TXT, -1, /is wrong/],
      [NAME, TYPES.TXT, TYPES.RRSIG, -1, /is wrong/],
      ['example.com', TYPES.DS, TYPES.DS, -1, /is wrong/],
      ['example.com', TYPES.DS, TYPES.RRSIG, -1, /is wrong/],
      ['example.com', TYPES.DNSKEY, TYPES.DNSKEY, -1, /not those/],
      ['example.com', TYPES.DNSKEY, TYPES.RRSIG, -1, /is wrong/],
      ['', TYPES.DNSKEY, TYPES.DNSKEY, -1, /not those/],
      ['', TYPES.DNSKEY, TYPES.RRSIG, -1, /is wrong/],
    ];
    for (const [name, asked, type, byte, reason] of changes) {
      const tree = goodTree();
      change(
        tree,
        [name, asked],
        ofType(type, (record) => flipped(record, byte)),
      );
      await expectUnproven(tree, NAME, reason);
    }
  });

  test('of every single byte of every answer, or it changes nothing', async () => {
    const questions = [
      ...[['', TYPES.DNSKEY] as const, [NAME, TYPES.TXT] as const],
      ...['com', 'example.com'].flatMap((zone) => [
        [zone, TYPES.DNSKEY] as const,
        [zone, TYPES.DS] as const,
      ]),
    ];
    const tree = goodTree();
    for (const [name, type] of questions) {
      const records = tree.served(name, type);
      for (const [at, record] of records.entries()) {
        for (let byte = 0; byte < record.data.length; byte++) {
          tree.serve(name, type, records.with(at, flipped(record, byte)));
          const found = await prove(tree, NAME).catch((error) => {
            if (!isRefusal(error)) throw error;
          });
          if (found) expect(found.texts).toEqual([PAYMENT]);
        }
      }
      tree.serve(name, type, records);
    }
  });

  test('of the set: a record more, a record less, none but the signature', async () => {
    const tree = goodTree();
    tree.txt(NAME, [PAYMENT, 'bitcoin:?lno=y']);
    change(tree, [NAME, TYPES.TXT], (records) => records.slice(1));
    await expectUnproven(tree, NAME, /is wrong/);
    tree.txt(NAME, [PAYMENT]);
    change(tree, [NAME, TYPES.TXT], (records) => [...records, ...txt(NAME, 'bitcoin:?lno=eve')]);
    await expectUnproven(tree, NAME, /is wrong/);
    tree.txt(NAME, [PAYMENT]);
    change(tree, [NAME, TYPES.TXT], (records) => records.slice(1));
    expect(await prove(tree, NAME)).toBeNull();
  });
});

describe('a record is refused', () => {
  test('without a signature, also where another name, type or key has one', async () => {
    const tree = goodTree();
    const unsigned = txt(NAME, 'bitcoin:?lno=eve');
    tree.serve(NAME, TYPES.TXT, unsigned);
    await expectUnproven(tree, NAME, /not secured by DNSSEC.*another way/);
    const [, other] = tree.signed(txt('eve.example.com', 'bitcoin:?lno=eve'));
    tree.serve(NAME, TYPES.TXT, [...unsigned, ...(other ? [other] : [])]);
    await expectUnproven(tree, NAME, /not secured by DNSSEC/);
    const moved = { ...other, name: NAME } as ServedRecord;
    tree.serve(NAME, TYPES.TXT, [...unsigned, moved]);
    await expectUnproven(tree, NAME, /a signature for another name|is wrong|wildcard/);
  });

  test('of a sibling domain, which cannot sign for another', async () => {
    const tree = goodTree();
    tree.zone('eve.com');
    tree.serve(NAME, TYPES.TXT, tree.signed(txt(NAME, 'bitcoin:?lno=eve'), {}, 'eve.com'));
    await expectUnproven(tree, NAME, /signed by eve\.com, which may not sign it/);
    // A zone below the name cannot sign it either, nor a zone whose name only ends in the same letters.
    tree.zone(`below.${NAME}`);
    tree.serve(NAME, TYPES.TXT, tree.signed(txt(NAME, 'x'), {}, `below.${NAME}`));
    await expectUnproven(tree, NAME, /may not sign it/);
    const labels = 'a\\.example.com';
    tree.zone(labels);
    tree.serve(`b.${labels}`, TYPES.TXT, []);
    tree.serve('b.a.example.com', TYPES.TXT, tree.signed(txt('b.a.example.com', 'x'), {}, labels));
    await expectUnproven(tree, 'b.a.example.com', /may not sign it/);
  });

  test('whose signature has expired or is not valid yet, by the clock given', async () => {
    const tree = goodTree();
    await expectUnproven(tree, NAME, /has expired.*clock/, NOW + DAY + 1);
    await expectUnproven(tree, NAME, /not valid yet.*clock/, NOW - 3601);
    expect((await prove(tree, NAME, NOW + DAY))?.texts).toEqual([PAYMENT]);
    expect((await prove(tree, NAME, NOW - 3600))?.texts).toEqual([PAYMENT]);
    const keys = tree.served('com', TYPES.DNSKEY).filter(({ type }) => type === TYPES.DNSKEY);
    tree.serve('com', TYPES.DNSKEY, tree.signed(keys, { expirationSecs: NOW - 1 }));
    await expectUnproven(tree, NAME, /com has a DNSSEC signature that has expired/);
  });

  test('whose times are compared around the end of 32 bits', async () => {
    const end = 2 ** 32;
    const tree = openSignedTree({ nowSecs: end - 10 });
    tree.txt('a', [PAYMENT]);
    for (const nowSecs of [end - 3610, end - 10, end, end - 10 + DAY]) {
      expect((await prove(tree, 'a', nowSecs))?.texts).toEqual([PAYMENT]);
    }
    await expectUnproven(tree, 'a', /not valid yet/, end - 3611);
    await expectUnproven(tree, 'a', /has expired/, end - 9 + DAY);
    const later = openSignedTree({ nowSecs: end + 3700 });
    later.txt('a', [PAYMENT]);
    await expectUnproven(later, 'a', /not valid yet/, end - 10);
    expect((await prove(later, 'a', end + 100))?.texts).toEqual([PAYMENT]);
  });

  test('whose signature counts more labels than it has, or fewer than its zone', async () => {
    const tree = goodTree();
    tree.serve(NAME, TYPES.TXT, tree.signed(txt(NAME, PAYMENT), { labels: 6 }));
    await expectUnproven(tree, NAME, /a signature for another name/);
    tree.serve(NAME, TYPES.TXT, tree.signed(txt(NAME, PAYMENT), { signedName: '*.com' }));
    await expectUnproven(tree, NAME, /a signature for another name/);
  });

  test('that is signed with SHA-1, or whose zone is named by SHA-1 alone', async () => {
    for (const algorithm of [5, 7]) {
      const tree = openSignedTree({ nowSecs: NOW });
      tree.zone('com', { zsk: makeKey({ algorithm, flags: 256 }) });
      tree.txt('a.com', [PAYMENT]);
      await expectUnproven(tree, 'a.com', /SHA-1/);
      tree.zone('net', { ksk: makeKey({ algorithm }) });
      tree.txt('a.net', [PAYMENT]);
      await expectUnproven(tree, 'a.net', /net is signed with SHA-1/);
    }
    const tree = openSignedTree({ nowSecs: NOW });
    tree.zone('com', { digestTypes: [1] });
    tree.txt('a.com', [PAYMENT]);
    await expectUnproven(tree, 'a.com', /only by SHA-1/);
  });

  test('that is signed with an RSA key of less than 1024 bits', async () => {
    for (const keys of [
      { ksk: 512, zsk: 2048 },
      { ksk: 2048, zsk: 512 },
    ]) {
      const tree = openSignedTree({ nowSecs: NOW });
      tree.zone('com', {
        ksk: makeKey({ algorithm: 8, bits: keys.ksk }),
        zsk: makeKey({ algorithm: 8, bits: keys.zsk, flags: 256 }),
      });
      tree.txt('a.com', [PAYMENT]);
      await expectUnproven(tree, 'a.com', /less than 1024 bits/);
    }
  });

  test('that is signed by a key that is revoked, no zone key, of another protocol or unknown', async () => {
    const keys = [{ flags: 0x0180 }, { flags: 0 }, { flags: 256, protocol: 2 }];
    for (const key of keys) {
      const tree = openSignedTree({ nowSecs: NOW });
      tree.zone('com', { zsk: makeKey(key) });
      tree.txt('a.com', [PAYMENT]);
      await expectUnproven(tree, 'a.com', /key that may not sign it/);
    }
    const tree = goodTree();
    const ksk = makeKey();
    tree.zone('example.com', { ksk });
    const key = strangerTo(ksk, tree.zskOf('example.com'));
    const set = txt(NAME, 'bitcoin:?lno=eve');
    const forged = signRecords(set, { signer: 'example.com', key, nowSecs: NOW });
    tree.serve(NAME, TYPES.TXT, [...set, forged]);
    await expectUnproven(tree, NAME, /key that example\.com does not have/);
    tree.serve(NAME, TYPES.TXT, tree.signed(set, { algorithm: 13 }));
    await expectUnproven(tree, NAME, /key that example\.com does not have/);
    tree.serve(NAME, TYPES.TXT, tree.signed(set, { algorithm: 16 }));
    await expectUnproven(tree, NAME, /does not know/);
  });

  test('of a zone that is signed, but whose parent names no key of it: it has no DNSSEC', async () => {
    const tree = openSignedTree({ nowSecs: NOW });
    tree.zone('com');
    tree.zone('example.com', { digestTypes: [] });
    tree.txt(NAME, [PAYMENT]);
    await expectUnproven(tree, NAME, /example\.com has no DNSSEC.*another way to pay/);
  });

  test('of a zone whose DS is unsigned, signed by itself, of another key, or for another zone', async () => {
    const key = makeKey();
    const ds = (name: string, of = name): ServedRecord => ({
      name,
      type: TYPES.DS,
      ttl: 300,
      data: dsData(of, key, 2),
    });
    const tree = goodTree();
    const serve = (records: readonly ServedRecord[]) =>
      tree.serve('example.com', TYPES.DS, records);
    serve([ds('example.com')]);
    await expectUnproven(tree, NAME, /example\.com is not secured by DNSSEC/);
    serve(tree.signed([ds('example.com')], {}, 'example.com'));
    await expectUnproven(tree, NAME, /may not sign it/);
    serve(tree.signed([ds('example.com')]));
    await expectUnproven(tree, NAME, /not those that the zone above it names/);
    tree.zone('eve.com', { ksk: key });
    serve(tree.served('eve.com', TYPES.DS));
    await expectUnproven(tree, NAME, /has no DNSSEC/);
  });

  test('of a zone whose keys are not signed by the key that the zone above names', async () => {
    const zsk = makeKey({ flags: 256 });
    const tree = openSignedTree({ nowSecs: NOW });
    tree.zone('com', { ksk: strangerTo(zsk), zsk, keysSignedBy: zsk });
    tree.txt('a.com', [PAYMENT]);
    await expectUnproven(tree, 'a.com', /com is signed with a key that com does not have/);
    const unsigned = tree.served('com', TYPES.DNSKEY).filter(({ type }) => type !== TYPES.RRSIG);
    tree.serve('com', TYPES.DNSKEY, unsigned);
    await expectUnproven(tree, 'a.com', /com is not secured by DNSSEC/);
    tree.serve('com', TYPES.DNSKEY, []);
    await expectUnproven(tree, 'a.com', /not those/);
  });

  test('of another root', async () => {
    const { anchors } = goodTree();
    await expectUnproven({ ...goodTree(), anchors }, NAME, /keys of \. are not those/);
  });
});
