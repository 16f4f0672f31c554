import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { base32hexnopad } from '@scure/base';
import {
  longTxtData,
  nameBytes,
  type ServedRecord,
  TYPES,
  typeBitmap,
  uint,
} from '../../support/dns-writer.ts';
import { openSignedTree, type SignedTree } from '../../support/signed-tree.ts';
import { expectUnproven, prove } from './prove.ts';

const NOW = 1_800_000_000;
const ZONE = 'example.com';
const BITCOIN = `user._bitcoin-payment.${ZONE}`;
const NAME = `matt.${BITCOIN}`;
const PAYMENT = 'bitcoin:?lno=x';
const MISSING = /from a wildcard, without proof/;

function tree(): SignedTree {
  const made = openSignedTree({ nowSecs: NOW });
  made.zone('com');
  made.zone(ZONE);
  return made;
}

/** Serves the record of a wildcard as the record of a name, with denials, each with a signature of its own. */
function serveExpanded(
  made: SignedTree,
  wildcard: string,
  denials: readonly ServedRecord[],
  name = NAME,
): void {
  const record = { name, type: TYPES.TXT, ttl: 60, data: longTxtData(PAYMENT) };
  const expanded = made.signed([record], { signedName: wildcard });
  const proofs = denials.flatMap((denial) => made.signed([denial]));
  made.serve(name, TYPES.TXT, [...expanded, ...proofs]);
}

function nsec(owner: string, next: string, types: readonly number[] = [TYPES.TXT]): ServedRecord {
  const data = Buffer.concat([nameBytes(next), typeBitmap(types)]);
  return { name: owner, type: TYPES.NSEC, ttl: 60, data };
}

const SALT = Buffer.from('aabb', 'hex');

/** Returns the hash of a name plus a small number, to get the values just before and after it. */
function hashOf(name: string, { iterations = 0, salt = SALT, by = 0n } = {}): Buffer {
  let hash: Buffer = nameBytes(name.toLowerCase());
  for (let round = 0; round <= iterations; round++) {
    hash = createHash('sha1').update(hash).update(salt).digest();
  }
  const moved = (BigInt(`0x${hash.toString('hex')}`) + by) % 2n ** 160n;
  return Buffer.from(moved.toString(16).padStart(40, '0'), 'hex');
}

interface Nsec3Shape {
  readonly zone?: string;
  readonly flags?: number;
  readonly hashAlgorithm?: number;
  readonly iterations?: number;
}

function nsec3(from: Buffer, to: Buffer, shape: Nsec3Shape = {}): ServedRecord {
  const { zone = ZONE, flags = 0, hashAlgorithm = 1, iterations = 0 } = shape;
  const data = Buffer.concat([
    uint(1, hashAlgorithm, flags),
    uint(2, iterations),
    uint(1, SALT.length),
    SALT,
    uint(1, to.length),
    to,
    typeBitmap([TYPES.TXT]),
  ]);
  const label = base32hexnopad.encode(new Uint8Array(from)).toLowerCase();
  return { name: `${label}.${zone}`, type: TYPES.NSEC3, ttl: 60, data };
}

/** Returns an NSEC3 that covers the hash of a name and almost no other. */
function nsec3Around(name: string, shape: Nsec3Shape = {}): ServedRecord {
  const { iterations = 0 } = shape;
  const at = (by: bigint) => hashOf(name, { iterations, by });
  return nsec3(at(-1n), at(1n), shape);
}

const holds = async (made: SignedTree, name = NAME) =>
  expect((await prove(made, name))?.texts).toEqual([PAYMENT]);

describe('a record of a wildcard', () => {
  test('is refused without its denial, or with one that is not signed', async () => {
    const made = tree();
    serveExpanded(made, `*.${BITCOIN}`, []);
    await expectUnproven(made, NAME, MISSING);
    const denial = nsec(`a.${BITCOIN}`, `z.${BITCOIN}`);
    made.serve(NAME, TYPES.TXT, [...made.served(NAME, TYPES.TXT), denial]);
    await expectUnproven(made, NAME, MISSING);
    serveExpanded(made, `*.${BITCOIN}`, [denial]);
    await holds(made);
  });

  test('may be asked for by its own name without a denial', async () => {
    const made = tree();
    made.txt(`*.${BITCOIN}`, [PAYMENT]);
    await holds(made, `*.${BITCOIN}`);
  });

  test('holds for no longer than its denial', async () => {
    const made = tree();
    serveExpanded(made, `*.${BITCOIN}`, [{ ...nsec(`a.${BITCOIN}`, `z.${BITCOIN}`), ttl: 9 }]);
    expect((await prove(made, NAME))?.holdsSecs).toBe(9);
  });

  test('needs an alias from a wildcard to be denied the same way', async () => {
    const made = tree();
    made.txt('target.example.com', [PAYMENT]);
    const alias = { name: NAME, type: TYPES.CNAME, ttl: 60, data: nameBytes('target.example.com') };
    const expanded = made.signed([alias], { signedName: `*.${BITCOIN}` });
    made.serve(NAME, TYPES.TXT, expanded);
    await expectUnproven(made, NAME, MISSING);
    const denial = made.signed([nsec(`a.${BITCOIN}`, `z.${BITCOIN}`)]);
    made.serve(NAME, TYPES.TXT, [...expanded, ...denial]);
    await holds(made);
    const tree2 = { ...alias, name: BITCOIN, type: TYPES.DNAME };
    made.serve(NAME, TYPES.TXT, [
      ...made.signed([tree2], { signedName: `*._bitcoin-payment.${ZONE}` }),
      ...made.signed([nsec(`a._bitcoin-payment.${ZONE}`, `z._bitcoin-payment.${ZONE}`)]),
    ]);
    await expectUnproven(made, NAME, /comes from a wildcard, which is not allowed here/);
  });
});

describe('an NSEC', () => {
  const cases: readonly (readonly [string, ServedRecord, boolean])[] = [
    ['covers names between its owner and the next', nsec(`a.${BITCOIN}`, `z.${BITCOIN}`), true],
    ['covers the end of its zone', nsec(`a.${BITCOIN}`, ZONE), true],
    ['covers from the wildcard itself', nsec(`*.${BITCOIN}`, ZONE), true],
    ['knows no case', nsec(`A.${BITCOIN.toUpperCase()}`, `Z.${BITCOIN.toUpperCase()}`), true],
    ['does not cover its owner', nsec(NAME, `z.${BITCOIN}`), false],
    ['does not cover the next name', nsec(`a.${BITCOIN}`, NAME), false],
    ['does not cover names before it', nsec(`n.${BITCOIN}`, `z.${BITCOIN}`), false],
    ['does not cover names after it', nsec(`a.${BITCOIN}`, `b.${BITCOIN}`), false],
    ['does not deny a name with others below it', nsec(`a.${BITCOIN}`, `x.${NAME}`), false],
    ['of the end does not cover names before it', nsec(`n.${BITCOIN}`, ZONE), false],
  ];
  for (const [rule, denial, covers] of cases) {
    test(rule, async () => {
      const made = tree();
      serveExpanded(made, `*.${BITCOIN}`, [denial]);
      if (covers) await holds(made);
      else await expectUnproven(made, NAME, MISSING);
    });
  }

  test('of a delegation or a DNAME says nothing of what is below it, but of what is beside it', async () => {
    const made = tree();
    const cases = [
      [[TYPES.NS, TYPES.DS], false],
      [[TYPES.DNAME], false],
      [[TYPES.NS, TYPES.SOA], true],
      [[TYPES.TXT], true],
    ] as const;
    for (const [types, covers] of cases) {
      serveExpanded(made, `*.${ZONE}`, [nsec(`_bitcoin-payment.${ZONE}`, `z.${ZONE}`, types)]);
      // In all of these cases the name above exists, so the wildcard of the zone never applies.
      await expectUnproven(made, NAME, MISSING);
      serveExpanded(made, `*.${BITCOIN}`, [nsec(BITCOIN, `z.${ZONE}`, types)]);
      if (covers) await holds(made);
      else await expectUnproven(made, NAME, MISSING);
    }
    serveExpanded(made, `*.${BITCOIN}`, [nsec(`a.${BITCOIN}`, `z.${BITCOIN}`, [TYPES.NS])]);
    await holds(made);
  });

  test('must deny the name right below the wildcard, since a closer wildcard may apply', async () => {
    const made = tree();
    // It covers the requested name, but user._bitcoin-payment exists and has a wildcard of its own.
    serveExpanded(made, `*._bitcoin-payment.${ZONE}`, [nsec(`*.${BITCOIN}`, `z.${ZONE}`)]);
    await expectUnproven(made, NAME, MISSING);
    serveExpanded(made, `*._bitcoin-payment.${ZONE}`, [
      nsec(`a._bitcoin-payment.${ZONE}`, `z._bitcoin-payment.${ZONE}`),
    ]);
    await holds(made);
  });

  test('that is not the only one of its name proves nothing', async () => {
    const made = tree();
    serveExpanded(made, `*.${BITCOIN}`, []);
    const two = [nsec(`a.${BITCOIN}`, `z.${BITCOIN}`), nsec(`a.${BITCOIN}`, `y.${BITCOIN}`)];
    made.serve(NAME, TYPES.TXT, [...made.served(NAME, TYPES.TXT), ...made.signed(two)]);
    await expectUnproven(made, NAME, MISSING);
  });

  test('that comes from a wildcard itself, or from another zone, proves nothing', async () => {
    const made = tree();
    made.zone('eve.com');
    const denial = nsec(`a.${BITCOIN}`, `z.${BITCOIN}`);
    serveExpanded(made, `*.${BITCOIN}`, []);
    const expanded = made.served(NAME, TYPES.TXT);
    for (const proof of [
      made.signed([denial], { signedName: `*.${BITCOIN}` }),
      made.signed([denial], {}, 'com'),
      made.signed([nsec('a.eve.com', 'z.eve.com')]),
      made.signed([nsec('eve.com', 'eve.com')]),
    ]) {
      made.serve(NAME, TYPES.TXT, [...expanded, ...proof]);
      await expectUnproven(made, NAME, MISSING);
    }
  });
});

describe('an NSEC3', () => {
  test('covers a hash between its own and the next, around the end too, and neither end itself', async () => {
    const at = (by: bigint) => hashOf(NAME, { by });
    const low = Buffer.alloc(20, 0);
    const high = Buffer.alloc(20, 0xff);
    const cases: readonly (readonly [ServedRecord, boolean])[] = [
      [nsec3Around(NAME), true],
      [nsec3(low, high), true],
      [nsec3(at(-1n), low), true],
      [nsec3(high, at(1n)), true],
      [nsec3(low, low), true],
      [nsec3(at(0n), at(0n)), false],
      [nsec3(at(0n), at(1n)), false],
      [nsec3(at(-1n), at(0n)), false],
      [nsec3(low, at(-1n)), false],
      [nsec3(at(1n), at(-1n)), false],
      [nsec3(high, low), false],
      [nsec3Around(`x.${NAME}`), false],
      [nsec3Around(BITCOIN), false],
      [nsec3(at(-1n), Buffer.concat([at(1n), low])), false],
      [nsec3(at(-1n), at(1n).subarray(1)), false],
    ];
    for (const [at, [denial, covers]] of cases.entries()) {
      const made = tree();
      serveExpanded(made, `*.${BITCOIN}`, [denial]);
      if (covers) await holds(made);
      else
        await expectUnproven(made, NAME, MISSING).catch((cause) => {
          throw new Error(`case ${at}`, { cause });
        });
    }
  });

  test('must deny the name right below the wildcard', async () => {
    const made = tree();
    serveExpanded(made, `*._bitcoin-payment.${ZONE}`, [nsec3Around(NAME)]);
    await expectUnproven(made, NAME, MISSING);
    serveExpanded(made, `*._bitcoin-payment.${ZONE}`, [nsec3Around(BITCOIN)]);
    await holds(made);
  });

  test('proves nothing with opt-out, unknown flags or hash, or of another zone', async () => {
    const shapes = [{ flags: 1 }, { flags: 2 }, { hashAlgorithm: 2 }, { zone: `x.${ZONE}` }];
    for (const shape of shapes) {
      const made = tree();
      serveExpanded(made, `*.${BITCOIN}`, [nsec3Around(NAME, shape)]);
      await expectUnproven(made, NAME, MISSING);
    }
  });

  test('proves nothing with more than 50 iterations (RFC 9276)', async () => {
    const made = tree();
    serveExpanded(made, `*.${BITCOIN}`, [nsec3Around(NAME, { iterations: 50 })]);
    await holds(made);
    for (const iterations of [51, 150, 65_535]) {
      serveExpanded(made, `*.${BITCOIN}`, [nsec3Around(NAME, { iterations })]);
      await expectUnproven(made, NAME, MISSING);
    }
  });
});
