import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { nameBytes, type ServedRecord, TYPES, typeBitmap } from '../../support/dns-writer.ts';
import { rounds } from '../../support/rounds.ts';
import type { SignedTree } from '../../support/signed-tree.ts';
import { dsData, makeKey, signRecords, type ZoneKey } from '../../support/zone-keys.ts';
import { goodTree, NAME, NOW, PAYMENT, txt } from './good-tree.ts';
import { isRefusal, prove } from './prove.ts';

const THEFT = 'bitcoin:?lno=eve';
const VICTIMS = ['', 'com', 'example.com', NAME] as const;

/** A tree in which an attacker has a domain beside the victim's, and one below it. */
function sharedTree(): { readonly tree: SignedTree; readonly keys: readonly ZoneKey[] } {
  const tree = goodTree();
  const [ksk, zsk] = [makeKey(), makeKey({ flags: 256 })];
  tree.zone('eve.com', { ksk, zsk });
  tree.zone('eve.example.com', { ksk, zsk });
  tree.txt(`${NAME}.eve.com`, [THEFT]);
  tree.txt('*.eve.com', [THEFT]);
  return { tree, keys: [ksk, zsk] };
}

/** Records of any names with a signature, as an attacker with keys of its own can make them. */
function forgeries(keys: readonly ZoneKey[]): ServedRecord[][] {
  const bodies = [...VICTIMS, 'eve.com', 'eve.example.com'].flatMap((name) => [
    txt(name, THEFT),
    [{ name, type: TYPES.CNAME, ttl: 60, data: nameBytes(`${NAME}.eve.com`) }],
    [{ name, type: TYPES.DNAME, ttl: 60, data: nameBytes('eve.com') }],
    keys.map(({ data }) => ({ name, type: TYPES.DNSKEY, ttl: 60, data })),
    keys.map((key) => ({ name, type: TYPES.DS, ttl: 60, data: dsData(name, key, 2) })),
    [
      {
        name,
        type: TYPES.NSEC,
        ttl: 60,
        data: Buffer.concat([nameBytes(name), typeBitmap([TYPES.SOA])]),
      },
    ],
  ]);
  const signers = ['', 'com', 'example.com', 'eve.com', 'eve.example.com'];
  return bodies.flatMap((records) =>
    signers.flatMap((signer) =>
      keys.flatMap((key) => [
        [...records, signRecords(records, { signer, key, nowSecs: NOW })],
        [
          ...records,
          signRecords(records, { signer, key, nowSecs: NOW }, { signedName: `*.${signer}` }),
        ],
      ]),
    ),
  );
}

test('no mixture of true records and forged ones proves anything that the zone did not sign', async () => {
  const { tree, keys } = sharedTree();
  const questions = ['', 'com', 'example.com', 'eve.com', 'eve.example.com'].flatMap((zone) => [
    [zone, TYPES.DNSKEY] as const,
    [zone, TYPES.DS] as const,
  ]);
  const asked = [[NAME, TYPES.TXT] as const, ...questions];
  const honest = asked.map(([name, type]) => tree.served(name, type));
  const foreign = ['*.eve.com', `${NAME}.eve.com`].flatMap((name) => tree.served(name, TYPES.TXT));
  const pool = [...[...honest.flat(), ...foreign].map((one) => [one]), ...forgeries(keys)];
  // Records that are renamed to a name of the victim are the most useful ones to an attacker.
  const stolen = fc
    .tuple(fc.constantFrom(...pool), fc.option(fc.constantFrom(...VICTIMS), { nil: null }))
    .map(([set, name]) => (name === null ? set : set.map((record) => ({ ...record, name }))));
  const answer = (at: number) => {
    const truth = [...(honest[at] ?? [])];
    return fc
      .tuple(
        fc.oneof(
          { weight: 4, arbitrary: fc.constant(truth) },
          { weight: 2, arbitrary: fc.constant([]) },
          fc.subarray(truth),
        ),
        fc.array(stolen, { maxLength: 2 }),
      )
      .map(([kept, added]) => [...kept, ...added.flat()]);
  };
  let proven = 0;
  await fc.assert(
    fc.asyncProperty(fc.tuple(...asked.map((_, at) => answer(at))), async (answers) => {
      for (const [at, [name, type]] of asked.entries()) tree.serve(name, type, answers[at] ?? []);
      const found = await prove(tree, NAME).catch((error) => {
        if (!isRefusal(error)) throw error;
        return null;
      });
      if (found === null) return;
      proven += 1;
      expect(found.texts).toEqual([PAYMENT]);
    }),
    { numRuns: rounds(800, 5000) },
  );
  // Some mixtures leave all genuine records in place, so some look-ups must succeed.
  expect(proven).toBeGreaterThan(0);
});
