import { describe, expect, test } from 'bun:test';
import { nameBytes, TYPES } from '../../support/dns-writer.ts';
import type { SignedTree } from '../../support/signed-tree.ts';
import { change, goodTree, NAME, ofType, PAYMENT, txt } from './good-tree.ts';
import { expectUnproven, flipped, prove } from './prove.ts';

describe('aliases', () => {
  /** A second domain that has the record. */
  function twoDomains(): SignedTree {
    const tree = goodTree();
    tree.zone('net');
    tree.zone('example.net');
    tree.txt('matt.pay.example.net', [PAYMENT]);
    return tree;
  }

  test('that are signed are followed, in this answer and by further questions', async () => {
    const tree = twoDomains();
    tree.alias('CNAME', NAME, 'Matt.Pay.example.NET');
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
    const target = tree.served('matt.pay.example.net', TYPES.TXT);
    change(tree, [NAME, TYPES.TXT], (records) => [...target, ...records]);
    tree.serve('matt.pay.example.net', TYPES.TXT, []);
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
    tree.alias('CNAME', NAME, 'none.example.net');
    expect(await prove(tree, NAME)).toBeNull();
  });

  test('of a whole tree (DNAME) are followed where signed, and never for the name itself', async () => {
    const tree = twoDomains();
    tree.alias('DNAME', 'user._bitcoin-payment.example.com', 'Pay.example.net', NAME);
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
    const synthesized = { name: NAME, type: TYPES.CNAME, ttl: 0, data: nameBytes('eve.example') };
    change(tree, [NAME, TYPES.TXT], (records) => [synthesized, ...records]);
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
    change(
      tree,
      [NAME, TYPES.TXT],
      ofType(TYPES.RRSIG, () => null),
    );
    await expectUnproven(tree, NAME, /not secured by DNSSEC/);
    tree.alias('DNAME', NAME, 'matt.pay.example.net');
    expect(await prove(tree, NAME)).toBeNull();
    tree.alias('DNAME', 'payment.example.com', 'pay.example.net', NAME);
    expect(await prove(tree, NAME)).toBeNull();
  });

  test('that are not signed, or signed by a stranger, are refused', async () => {
    const tree = twoDomains();
    tree.alias('CNAME', NAME, 'matt.pay.example.net');
    change(
      tree,
      [NAME, TYPES.TXT],
      ofType(TYPES.RRSIG, () => null),
    );
    await expectUnproven(tree, NAME, /not secured by DNSSEC/);
    tree.alias('CNAME', NAME, 'matt.pay.example.net');
    change(
      tree,
      [NAME, TYPES.TXT],
      ofType(TYPES.CNAME, (record) => flipped(record, 2)),
    );
    await expectUnproven(tree, NAME, /is wrong/);
    const alias = { name: NAME, type: TYPES.CNAME, ttl: 60, data: nameBytes('eve.example.net') };
    tree.serve(NAME, TYPES.TXT, tree.signed([alias], {}, 'example.net'));
    await expectUnproven(tree, NAME, /may not sign it/);
    const dname = { name: 'com', type: TYPES.DNAME, ttl: 60, data: nameBytes('net') };
    tree.serve(NAME, TYPES.TXT, tree.signed([dname], {}, 'example.net'));
    await expectUnproven(tree, NAME, /may not sign it/);
  });

  test('to a record that is not signed are refused', async () => {
    const tree = twoDomains();
    tree.alias('CNAME', NAME, 'matt.pay.example.net');
    change(
      tree,
      ['matt.pay.example.net', TYPES.TXT],
      ofType(TYPES.RRSIG, () => null),
    );
    await expectUnproven(tree, NAME, /matt\.pay\.example\.net is not secured by DNSSEC/);
  });

  test('in a circle, growing, too many, two of one name or beside a record are refused', async () => {
    const tree = twoDomains();
    tree.alias('CNAME', NAME, 'a.example.net');
    tree.alias('CNAME', 'a.example.net', NAME);
    await expectUnproven(tree, NAME, /circle/);
    tree.alias('CNAME', NAME, NAME);
    await expectUnproven(tree, NAME, /circle/);
    tree.alias('DNAME', 'com', 'x.com', NAME);
    await expectUnproven(tree, NAME, /circle/);
    const chain = (length: number) => {
      for (let at = 1; at < length; at++) {
        tree.alias('CNAME', `${at}.example.net`, `${at + 1}.example.net`);
      }
      tree.txt(`${length}.example.net`, [PAYMENT]);
    };
    tree.alias('CNAME', NAME, '1.example.net');
    chain(8);
    expect((await prove(tree, NAME))?.texts).toEqual([PAYMENT]);
    chain(9);
    await expectUnproven(tree, NAME, /too many aliases/);
    const two = ['a.example.net', 'b.example.net'].map((to) => nameBytes(to));
    const type = TYPES.CNAME;
    tree.serve(
      NAME,
      TYPES.TXT,
      tree.signed(two.map((data) => ({ name: NAME, type, ttl: 60, data }))),
    );
    await expectUnproven(tree, NAME, /two aliases/);
    tree.alias('CNAME', NAME, 'matt.pay.example.net');
    change(tree, [NAME, TYPES.TXT], (records) => [...records, ...tree.signed(txt(NAME, 'x'))]);
    await expectUnproven(tree, NAME, /both an alias and a record/);
  });
});
