import { beforeEach, describe, expect, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { examplePayment } from '../../src/http/examples.ts';
import { openLog } from '../../src/lib/log.ts';
import { idOf, isFinal, type Payment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type { JournalRow, MatchCandidates } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { matchObservation, observationRules } from '../../src/wallet/follow/observe.ts';
import { rounds } from '../support/rounds.ts';
import { sampleDone, sampleFailed, samplePayment } from '../support/sample-payment.ts';
import { fits, newSpend, observe, WALLET } from '../support/store-steps.ts';

let logged: string[];
const log = openLog({ level: 'info', format: 'text', write: (line) => void logged.push(line) });
let unproven: Payment[];
let contradicted: Payment[];
beforeEach(() => {
  logged = [];
  unproven = [];
  contradicted = [];
});

const rules = () =>
  observationRules({
    log,
    deliver: () => null,
    unproven: (payment) => unproven.push(payment),
    contradicted: (payment) => contradicted.push(payment),
  });
const transition = (previous: Payment | null, payment: Payment, ampParts?: AmpParts) =>
  rules().transition(previous, { payment, attempt: null, ...(ampParts ? { ampParts } : {}) });
type AmpParts = readonly { readonly hash: string; readonly preimage: string }[];

const pending = samplePayment(1);
const failed = sampleFailed(1);
const done = sampleDone(1);

describe('description and own words of a row (docs/decisions.md 183, 184)', () => {
  const { invoice } = examplePayment;
  const own = { description: 'Mine', externalId: 'order-1', personalNote: 'note' };

  test('the description of a payment without a row is that of its invoice, also while it is not proven', () => {
    expect(transition(null, { ...done, invoice })).toMatchObject({ description: 'Coffee' });
    expect(transition(null, { ...done, invoice, preimage: null })).toMatchObject({
      status: 'pending',
      description: 'Coffee',
    });
    expect(transition(null, done)).toMatchObject({ description: null });
  });

  test('what the row has stays, whatever the node tells', () => {
    const told = { ...done, invoice, description: 'Other', externalId: 'x', personalNote: 'y' };
    expect(transition({ ...pending, ...own }, told)).toMatchObject({ status: 'completed', ...own });
    expect(transition({ ...done, ...own }, told)).toMatchObject(own);
  });

  test('the price of a row stays, unless another program has paid', () => {
    const price = { currency: 'EUR', amount: '1.00', rate: '9', rateAtMs: 1, rateSource: 'a' };
    const told = (isTaken: boolean) =>
      rules().transition(
        { ...pending, price },
        { payment: done, attempt: 3, answers: { index: pending.index, isTaken } },
      );
    expect(told(false)).toMatchObject({ status: 'completed', price });
    expect(told(true)).toMatchObject({ status: 'completed', price: null });
  });

  test('a final payment without a description gets none later', () => {
    expect(transition({ ...done, invoice }, { ...done, invoice })).toBeNull();
  });

  test('what the node told of first gets what the request gave', () => {
    expect(transition(pending, { ...pending, ...own })).toMatchObject(own);
  });
});

describe('the row that an observation is about', () => {
  const row = (payment: Payment, attempt: number | null, afterAttempt: number | null) =>
    ({ payment, attempt, afterAttempt }) satisfies JournalRow;
  const match = (candidates: Partial<MatchCandidates>, payment: Payment, attempt: number | null) =>
    matchObservation(
      { sameIndex: null, sameAttempt: null, latest: null, ...candidates },
      { payment, attempt },
    );

  test('of an attempt that a row has is that row, though a later one is waiting', () => {
    const earlier = row(failed, 5, 4);
    const retry = row(pending, null, 5);
    expect(match({ sameAttempt: earlier, latest: retry }, failed, 5)).toBe(earlier);
  });

  test('of a late word on an earlier attempt is never the row that was asked for after it', () => {
    const retry = row(pending, null, 5);
    for (const late of [3, 4, 5]) {
      expect(match({ latest: retry }, failed, late)).toBeNull();
      expect(match({ latest: retry, sameIndex: retry }, failed, late)).toBeNull();
    }
  });

  test('of the first word on a new attempt is the row that waits for it', () => {
    const asked = row(pending, null, 5);
    for (const first of [6, 60]) expect(match({ latest: asked }, pending, first)).toBe(asked);
    expect(match({ latest: asked }, failed, 6)).toBe(asked);
  });

  test('of an answer to the very request is its row, unless that is over, has another attempt, or had this one before', () => {
    const answers = { index: pending.index, isTaken: false };
    const answered = (own: JournalRow, attempt: number, change = {}) =>
      matchObservation(
        { sameIndex: own, sameAttempt: null, latest: row(failed, 9, 8) },
        { payment: pending, attempt, answers, ...change },
      );
    const asked = row(pending, null, 5);
    for (const attempt of [3, 6]) expect(answered(asked, attempt)).toBe(asked);
    expect(answered(asked, 5)).toBeNull();
    expect(answered(row(pending, 6, 5), 7)).toBeNull();
    expect(answered(row(failed, null, 5), 6)).toBeNull();
    expect(answered(asked, 6, { answers: { ...answers, isTaken: true } })).toBeNull();
    const otherHash = samplePayment(1, { hash: '00'.repeat(32) });
    expect(answered(asked, 6, { payment: otherHash })).toBeNull();
    const waiting = { sameIndex: asked, sameAttempt: null, latest: asked };
    expect(matchObservation(waiting, { payment: otherHash, attempt: 6, answers })).toBeNull();
  });

  test('of a row with the number of version 0.2 is that row, unless it ended otherwise', () => {
    const createdUs = 1_795_235_185_221_188;
    for (const stored of [row(pending, 7, 5), row(pending, 7, null)]) {
      for (const seen of [pending, failed, done]) {
        expect(match({ latest: stored }, seen, createdUs)).toBe(stored);
      }
    }
    for (const over of [failed, done]) {
      const stored = row(over, 7, 5);
      expect(match({ latest: stored }, over, createdUs)).toBe(stored);
      for (const seen of [pending, over === failed ? done : failed]) {
        expect(match({ latest: stored }, seen, createdUs)).toBeNull();
      }
    }
    // Of two numbers of one kind, another one is another attempt.
    expect(match({ latest: row(pending, createdUs, 5) }, pending, createdUs + 1)).toBeNull();
    expect(match({ latest: row(pending, 7, 5) }, pending, 8)).toBeNull();
    // A row that version 0.2 asked for holds that number of the attempt before.
    const asked = row(pending, null, 7);
    expect(match({ latest: asked }, done, createdUs)).toBe(asked);
  });

  test('of another attempt than the one that the newest row has is none', () => {
    expect(match({ latest: row(pending, 6, 5) }, pending, 7)).toBeNull();
    expect(match({ latest: row(failed, 6, 5) }, done, 7)).toBeNull();
    expect(match({ latest: row(pending, 6, 5) }, failed, 4)).toBeNull();
  });

  test('of attempts that were made outside is none, and each becomes a row of its own', () => {
    expect(match({}, pending, 1)).toBeNull();
    const first = row(failed, 1, null);
    expect(match({ latest: first }, done, 2)).toBeNull();
    const second = row(done, 2, null);
    expect(match({ sameAttempt: first, latest: second }, failed, 1)).toBe(first);
    expect(match({ sameAttempt: second, latest: second }, done, 2)).toBe(second);
  });

  test('of an outgoing Lightning payment with an index of its own is the row of that index alone', () => {
    const ours = row(pending, null, null);
    const other = samplePayment(2);
    for (const seen of [other, sampleFailed(2), sampleDone(2)]) {
      expect(match({ latest: ours }, seen, null)).toBeNull();
    }
    expect(match({ latest: ours, sameIndex: ours }, done, null)).toBe(ours);
  });

  test('of another hash is not the row of its index, nor the newest', () => {
    const ours = row(pending, null, null);
    const other = { ...done, hash: 'ee'.repeat(32) };
    expect(match({ sameIndex: ours }, other, null)).toBeNull();
    const received = { ...other, direction: 'inbound' } as const;
    expect(match({ sameIndex: ours, latest: ours }, received, null)).toBeNull();
    expect(match({ sameIndex: ours }, { ...done, hash: null }, null)).toBe(ours);
  });

  test('of an attempt is no row that is over and never had one', () => {
    expect(match({ latest: row(failed, null, 5) }, done, 6)).toBeNull();
    expect(match({ latest: row(failed, null, 5) }, failed, 6)).toBeNull();
  });

  test('of the first version, which knew no attempts, is the newest that is pending or ended so', () => {
    expect(match({ latest: row(pending, null, null) }, failed, 6)).toMatchObject({
      payment: pending,
    });
    expect(match({ latest: row(failed, null, null) }, failed, 6)).toMatchObject({
      payment: failed,
    });
    expect(match({ latest: row(done, null, null) }, done, 6)).toMatchObject({ payment: done });
    expect(match({ latest: row(failed, null, null) }, done, 6)).toBeNull();
    expect(match({ latest: row(failed, null, null) }, pending, 6)).toBeNull();
  });

  test('on nodes without attempts is the row of its index', () => {
    const own = row(failed, null, null);
    const newer = row(pending, null, null);
    expect(match({ sameIndex: own, latest: newer }, failed, null)).toBe(own);
  });

  test('without an attempt and with another index is the newest that is pending or ended so', () => {
    const receipt = { direction: 'inbound' } as const;
    const open = row({ ...pending, ...receipt }, null, null);
    const over = row({ ...failed, ...receipt }, null, null);
    expect(match({ latest: open }, { ...failed, ...receipt }, null)).toBe(open);
    expect(match({ latest: over }, { ...failed, ...receipt }, null)).toBe(over);
    expect(match({ latest: over }, { ...done, ...receipt }, null)).toBeNull();
    expect(match({}, { ...done, ...receipt }, null)).toBeNull();
  });
});

describe('the row that an observation is about, at its bounds:', () => {
  const row = (payment: Payment, attempt: number | null, afterAttempt: number | null) =>
    ({ payment, attempt, afterAttempt }) satisfies JournalRow;
  const none = { sameIndex: null, sameAttempt: null, latest: null };
  const LEAST_US = 1_000_000_000_000;

  test('a time in microseconds begins at a million seconds, and a number of version 0.2 ends before', () => {
    const match = (stored: number, attempt: number) =>
      matchObservation(
        { ...none, latest: row(pending, stored, null) },
        { payment: pending, attempt },
      ) !== null;
    expect(match(LEAST_US - 1, LEAST_US)).toBe(true);
    expect(match(LEAST_US, LEAST_US + 1)).toBe(false);
    expect(match(LEAST_US - 2, LEAST_US - 1)).toBe(false);
  });

  test('an attempt of another amount is another program’s, and of an unknown amount it may be this one', () => {
    const match = (asked: bigint | null, amountMsat: bigint | null) =>
      matchObservation(
        { ...none, latest: row({ ...pending, amountMsat: asked }, null, 5) },
        { payment: { ...pending, amountMsat }, attempt: 6 },
      ) !== null;
    expect(match(1000n, 1000n)).toBe(true);
    expect(match(1000n, 1001n)).toBe(false);
    expect(match(null, 1000n)).toBe(true);
    expect(match(1000n, null)).toBe(true);
  });

  test('an answer without a row of its index is about the row that waits for an attempt', () => {
    const asked = row(pending, null, 5);
    const answers = { index: pending.index, isTaken: false };
    const seen = { payment: pending, attempt: 6, answers };
    expect(matchObservation({ ...none, latest: asked }, seen)).toBe(asked);
  });

  test('a row without a hash may be that of any', () => {
    const own = row({ ...pending, hash: null }, null, null);
    const seen = { payment: pending, attempt: null };
    expect(matchObservation({ ...none, sameIndex: own }, seen)).toBe(own);
  });

  test('an outgoing transaction without an attempt is the newest that is pending or ended so', () => {
    const own = row({ ...pending, rail: 'onchain' }, null, null);
    const seen = { payment: { ...done, rail: 'onchain' }, attempt: null } as const;
    expect(matchObservation({ ...none, latest: own }, seen)).toBe(own);
  });
});

describe('a payment without a row', () => {
  test('gets the next free index, and the creation time of it', () => {
    const taken = [1, 2].map((at) => samplePayment(1, { createdAtMs: at }).index);
    const moved = rules().atFreeIndex(done, (index) => taken.includes(index));
    expect(moved).toEqual({ ...done, createdAtMs: 3, index: paymentIndex(3, idOf(done)) });
    expect(rules().atFreeIndex(done, (index) => index === taken[0]).createdAtMs).toBe(2);
    expect(rules().atFreeIndex(done, () => false)).toEqual(done);
  });
});

describe('what contradicts the wallet is logged with the index of the row, or else of the report', () => {
  const foreign = { index: paymentIndex(77, idOf(pending)) };
  const reports = [
    ['another payment hash', { hash: 'ee'.repeat(32) }, contradictedLast],
    ['preimage or amount does not match', { preimage: null }, () => unproven.at(-1)],
    ['cost below the amount', { feesMsat: -1n }, contradictedLast],
  ] as const;
  for (const [message, change, told] of reports) {
    test(message, () => {
      const report = { ...done, ...foreign, ...change };
      for (const previous of [pending, null]) {
        logged = [];
        transition(previous, report);
        expect(logged).toHaveLength(1);
        expect(logged[0]).toContain(message);
        expect(logged[0]).toContain(' ERROR ');
        expect(logged[0]).toContain((previous ?? report).index);
        expect(told()).toEqual(told === contradictedLast ? (previous ?? report) : report);
      }
    });
  }

  test('another status than that at the end, once', () => {
    rules().transition(done, { payment: { ...failed, ...foreign }, attempt: null });
    expect(logged.join()).toMatch(
      / ERROR .*finalized payment with another status.* status=completed observed=failed/,
    );
    expect(logged.join()).toContain(done.index);
    expect(transition(done, failed)).toBeNull();
  });

  test('nothing is said of a cost that is unknown, not final, on chain, or of what is completed', () => {
    transition(null, { ...done, amountMsat: null });
    transition(pending, { ...done, amountMsat: null });
    transition({ ...pending, amountMsat: null }, { ...done, amountMsat: null });
    transition(pending, { ...pending, amountMsat: 1n, statusMsg: 'in flight' });
    transition(done, { ...done, feesMsat: -1n });
    const onchain = { rail: 'onchain' } as const;
    transition({ ...pending, ...onchain }, { ...done, ...onchain, amountMsat: 1n });
    expect({ logged, contradicted }).toEqual({ logged: [], contradicted: [] });
  });

  function contradictedLast() {
    return contradicted.at(-1);
  }
});

describe('a Lightning payment is completed only with proof, also', () => {
  test('after it was completed, where a preimage is told again', () => {
    expect(transition(done, { ...done, preimage: '00'.repeat(32) })).toBeNull();
    expect(unproven).toHaveLength(1);
  });

  test('received without an amount, which is nothing: the fees alone must reach what was invoiced', () => {
    const invoiced = samplePayment(1, { direction: 'inbound' });
    const received = (feesMsat: bigint) =>
      sampleDone(1, { direction: 'inbound', amountMsat: null, feesMsat });
    expect(transition(invoiced, received(999n))).toBeNull();
    expect(transition(invoiced, received(1000n))).toMatchObject({ status: 'completed' });
  });

  test('received where only the invoice was without an amount, however little', () => {
    const open = samplePayment(1, { direction: 'inbound', amountMsat: null });
    const nothing = sampleDone(1, { direction: 'inbound', amountMsat: 0n, feesMsat: 0n });
    expect(transition(open, nothing)).toMatchObject({ amountMsat: 0n });
  });

  test('as an AMP receipt of one part', () => {
    const one = { hash: done.hash ?? '', preimage: done.preimage ?? '' };
    const set = { ...samplePayment(1, { direction: 'inbound' }), hash: null };
    const received = sampleDone(1, { direction: 'inbound', preimage: null, hash: null });
    expect(transition(set, received, [one])).toMatchObject({ status: 'completed' });
  });
});

describe('a report of', () => {
  test('another hash on chain is no contradiction, since a transaction has none', () => {
    const onchain = { rail: 'onchain' } as const;
    const seen = { ...done, ...onchain, hash: 'ee'.repeat(32) };
    expect(transition({ ...pending, ...onchain }, seen)).toMatchObject({
      status: 'completed',
      hash: pending.hash,
    });
    expect(contradicted).toEqual([]);
  });

  test('a hash that neither the row nor its index names is taken', () => {
    const index = paymentIndex(1, paymentId('fs', 'ee'.repeat(32)));
    const offer = { index, rail: 'offer', hash: null } as const;
    const seen = { ...pending, ...offer, hash: done.hash };
    expect(transition({ ...pending, ...offer }, seen)).toMatchObject({ hash: done.hash });
  });

  test('a replaced transaction as unconfirmed, or as confirmed, is about one that has failed', () => {
    const onchain = { rail: 'onchain' } as const;
    const replaced = { ...failed, ...onchain };
    expect(transition(replaced, { ...pending, ...onchain })).toBeNull();
    expect(logged).toEqual([]);
    expect(transition(replaced, { ...done, ...onchain })).toBeNull();
    expect(logged.join()).toContain('finalized payment with another status');
  });
});

describe('of the row and the report', () => {
  const tx = { inputs: [], outputs: [] } as unknown as NonNullable<Payment['tx']>;
  /** Each with a value, and another one. */
  const facts = {
    offerId: ['o', 'q'],
    txid: ['aa', 'ab'],
    replacement: ['bb', 'bc'],
    partnerPk: ['02', '03'],
    partnerPropFeePpm: [5, 0],
    partnerBaseFeeMsat: [6n, 0n],
    address: ['bc1', 'bc2'],
    invoice: ['lnbc1', 'lnbc2'],
    tx: [tx, { ...tx, version: 2 }],
    payerName: ['p', ''],
    message: ['m', ''],
    priority: ['high', 'normal'],
    expiresAtMs: [8, 0],
    personalNote: ['n', ''],
  } satisfies Partial<Record<keyof Payment, readonly [unknown, unknown]>>;

  for (const [name, [value, another]] of Object.entries(facts)) {
    const known = { [name]: value };
    const later = { statusMsg: 'in flight' };

    test(`${name} is kept where the report lacks it, and taken where the row does`, () => {
      expect(transition({ ...pending, ...known }, { ...pending, ...later })).toMatchObject(known);
      expect(transition(pending, { ...pending, ...later, ...known })).toMatchObject(known);
    });

    const winner = name === 'personalNote' ? 'row' : 'report';
    test(`${name} is that of the ${winner} where both have one`, () => {
      for (const [own, reported] of [
        [value, another],
        [another, value],
      ]) {
        const seen = { ...pending, ...later, [name]: reported };
        expect(transition({ ...pending, [name]: own }, seen)).toMatchObject({
          [name]: winner === 'row' ? own : reported,
        });
      }
    });
  }

  test('the amount is kept where the report lacks it, and is unknown where both do', () => {
    const later = { ...pending, amountMsat: null, statusMsg: 'in flight' };
    expect(transition(pending, later)).toMatchObject({ amountMsat: 1000n });
    expect(transition({ ...pending, amountMsat: null }, later)).toMatchObject({ amountMsat: null });
  });

  test('the hash is kept where the report lacks it', () => {
    const later = { ...pending, hash: null, statusMsg: 'in flight' };
    expect(transition(pending, later)).toMatchObject({ hash: pending.hash });
  });

  test('an amount that nobody knows is null', () => {
    expect(transition(null, { ...pending, amountMsat: null })?.amountMsat).toBeNull();
  });

  test('the time of the end is that of the report that ends it', () => {
    expect(transition(pending, done)).toMatchObject({ finalizedAtMs: done.finalizedAtMs });
  });

  test('another form of the same transaction alone is no change', () => {
    expect(transition(pending, { ...pending, tx })).toBeNull();
  });
});

describe('a Lightning payment is completed only with proof', () => {
  const wrong = { preimage: '00'.repeat(32) };

  test('a preimage that hashes to the payment hash is one', () => {
    expect(transition(pending, done)).toMatchObject({
      status: 'completed',
      preimage: done.preimage,
    });
    expect(unproven).toEqual([]);
  });

  test('a preimage that does not fit keeps the payment pending, and is told of', () => {
    for (const change of [wrong, { preimage: null }, { preimage: 'not hex' }, { preimage: '' }]) {
      unproven = [];
      const shown = { ...done, ...change };
      expect(transition(pending, shown)).toBeNull();
      expect(unproven).toEqual([shown]);
    }
  });

  test('the hash that the row knows counts where the node does not say one; without any there is no proof', () => {
    expect(transition(pending, { ...done, hash: null })).toMatchObject({ status: 'completed' });
    expect(transition({ ...pending, hash: null }, { ...done, hash: null })).toBeNull();
  });

  test('what is first heard of as completed without proof becomes a pending payment', () => {
    expect(transition(null, { ...done, ...wrong })).toEqual({
      ...done,
      status: 'pending',
      statusMsg: 'not proven by the node',
      preimage: null,
      finalizedAtMs: null,
    });
    expect(unproven).toHaveLength(1);
    expect(transition(null, done)).toEqual(done);
  });

  test('it may still be proven afterwards', () => {
    const first = transition(null, { ...done, ...wrong });
    expect(transition(first, done)).toMatchObject({ status: 'completed', preimage: done.preimage });
  });

  test('a completed payment needs no proof again: what knows less changes nothing and is not told of', () => {
    expect(transition(done, { ...done, preimage: null })).toBeNull();
    expect(unproven).toEqual([]);
  });

  test('on-chain payments and notes of waived fees have none to show', () => {
    for (const change of [{ rail: 'onchain' }, { direction: 'info' }] as const) {
      const shown = { ...done, ...change, hash: null, preimage: null };
      expect(transition({ ...pending, ...change, hash: null }, shown)).toMatchObject({
        status: 'completed',
      });
    }
  });

  test('received, it holds at least the invoiced amount, with what was taken as fees', () => {
    const invoiced = samplePayment(1, { direction: 'inbound', amountMsat: 1000n });
    const received = (amountMsat: bigint, feesMsat: bigint) =>
      sampleDone(1, { direction: 'inbound', amountMsat, feesMsat });
    expect(transition(invoiced, received(999n, 0n))).toBeNull();
    expect(transition(invoiced, received(989n, 10n))).toBeNull();
    expect(unproven).toHaveLength(2);
    expect(transition(invoiced, received(1000n, 0n))).toMatchObject({ status: 'completed' });
    expect(transition(invoiced, received(990n, 10n))).toMatchObject({ amountMsat: 990n });
    expect(transition(invoiced, received(2000n, 0n))).toMatchObject({ amountMsat: 2000n });
    const open = { ...invoiced, amountMsat: null };
    expect(transition(open, received(1n, 0n))).toMatchObject({ amountMsat: 1n });
  });

  test('an AMP receipt proves each part by its own hash, and shows no preimage', () => {
    const preimages = ['11'.repeat(32), '22'.repeat(32)];
    const parts = preimages.map((preimage) => ({
      preimage,
      hash: bytesToHex(sha256(hexToBytes(preimage))),
    }));
    const set = samplePayment(1, { direction: 'inbound' });
    const received = sampleDone(1, { direction: 'inbound', preimage: null });
    const [first, second] = parts;
    if (!first || !second) throw new Error('two parts');
    expect(transition(set, received, parts)).toMatchObject({
      status: 'completed',
      hash: set.hash,
      preimage: null,
    });
    expect(transition(set, received, [first, { ...second, preimage: first.preimage }])).toBeNull();
    expect(transition(set, received, [])).toBeNull();
    expect(unproven).toHaveLength(2);
  });
});

describe('the hash of a payment is that of its row', () => {
  const other = sampleDone(2);
  const lie = { hash: other.hash, preimage: other.preimage };

  test('a report of another hash, with the preimage of that one, changes nothing and is told of', () => {
    for (const change of [lie, { hash: other.hash }]) {
      contradicted = [];
      expect(transition(pending, { ...done, ...change })).toBeNull();
      expect(contradicted).toEqual([pending]);
    }
    expect(transition(pending, { ...failed, hash: other.hash })).toBeNull();
    expect(transition(pending, { ...pending, hash: other.hash, statusMsg: 'new' })).toBeNull();
    expect(logged.join()).toMatch(/another payment hash/);
  });

  test('also when it is over, whatever its end', () => {
    expect(transition(done, { ...done, ...lie })).toBeNull();
    expect(transition(failed, { ...failed, hash: other.hash })).toBeNull();
    expect(contradicted).toEqual([done, failed]);
  });

  test('of an offer it is that of the invoice that was fetched', () => {
    const index = paymentIndex(1, paymentId('fs', 'ee'.repeat(32)));
    const own = { ...pending, index, rail: 'offer' } as const;
    expect(transition(own, { ...done, ...lie, index, rail: 'offer' })).toBeNull();
    expect(transition(own, { ...failed, hash: other.hash, index, rail: 'offer' })).toBeNull();
    expect(contradicted).toEqual([own, own]);
    expect(transition(own, { ...done, index, rail: 'offer' })).toMatchObject({
      status: 'completed',
    });
  });

  test('a payment that is heard of first has the hash of its index, or becomes no row', () => {
    for (const seen of [
      { ...done, ...lie },
      { ...pending, hash: other.hash },
    ]) {
      expect(transition(null, seen)).toBeNull();
    }
    expect(contradicted).toHaveLength(2);
    expect(transition(null, done)).toEqual(done);
  });
});

describe('what a payment costs', () => {
  test('is never below the amount of its row, and its fees are never below 0', () => {
    const shown = (amountMsat: bigint, feesMsat: bigint) =>
      transition(pending, { ...done, amountMsat, feesMsat });
    expect(shown(0n, 0n)).toMatchObject({ amountMsat: 1000n, feesMsat: 0n });
    expect(shown(-5n, 3n)).toMatchObject({ amountMsat: 1000n, feesMsat: 3n });
    expect(shown(1000n, -1999n)).toMatchObject({ amountMsat: 1000n, feesMsat: 0n });
    expect(contradicted).toEqual([pending, pending, pending]);
    expect(shown(1001n, 7n)).toMatchObject({ amountMsat: 1001n, feesMsat: 7n });
    expect(shown(1000n, 0n)).toMatchObject({ status: 'completed' });
    expect(contradicted).toHaveLength(3);
  });

  test('is not made less by what comes later, whether it was completed or is still pending', () => {
    expect(transition(done, { ...done, amountMsat: 1n, feesMsat: -5n })).toMatchObject({
      amountMsat: 1000n,
      feesMsat: 0n,
    });
    const early = { ...pending, amountMsat: 0n, feesMsat: -9n, statusMsg: 'in flight' };
    expect(transition(pending, early)).toMatchObject({ amountMsat: 1000n, feesMsat: 0n });
  });

  test('on chain is not below the amount that was ordered either', () => {
    const onchain = { rail: 'onchain', hash: null, preimage: null } as const;
    const sent = { ...done, ...onchain, amountMsat: 0n, feesMsat: -1n };
    expect(transition({ ...pending, ...onchain }, sent)).toMatchObject({
      amountMsat: 1000n,
      feesMsat: 0n,
    });
  });

  test('is not negative where another program made the payment', () => {
    expect(transition(null, { ...done, amountMsat: -1n, feesMsat: -1n })).toMatchObject({
      amountMsat: 0n,
      feesMsat: 0n,
    });
    expect(transition(null, { ...pending, amountMsat: -1n, feesMsat: -1n })).toMatchObject({
      amountMsat: 0n,
      feesMsat: 0n,
    });
  });

  test('received, nothing is negative: net amount and fees are what the payer paid', () => {
    const invoiced = samplePayment(1, { direction: 'inbound' });
    for (const [amountMsat, feesMsat] of [
      [-5n, 1005n],
      [-1n, 1001n],
      [2000n, -1n],
    ] as const) {
      const lie = sampleDone(1, { direction: 'inbound', amountMsat, feesMsat });
      expect(transition(invoiced, lie)).toBeNull();
      const first = transition(null, lie);
      expect(first).toMatchObject({ status: 'pending' });
      expect((first?.amountMsat ?? -1n) >= 0n && (first?.feesMsat ?? -1n) >= 0n).toBe(true);
    }
    expect(unproven).toHaveLength(6);
  });
});

describe('what a payment shows', () => {
  test('no preimage until it is completed, whatever the node says', () => {
    const early = { preimage: done.preimage };
    expect(transition(null, { ...pending, ...early })).toMatchObject({ preimage: null });
    expect(transition(pending, { ...pending, ...early, statusMsg: 'in flight' })).toMatchObject({
      preimage: null,
    });
    expect(transition(pending, { ...failed, ...early })).toMatchObject({ preimage: null });
    expect(transition(null, { ...failed, ...early })).toMatchObject({ preimage: null });
  });

  test('that it is held, until it ends: an earlier word that it has not arrived comes too late', () => {
    const held = samplePayment(1, { direction: 'inbound', statusMsg: 'held' });
    const open = { ...held, statusMsg: 'invoice generated' };
    expect(transition(open, held)).toMatchObject({ status: 'pending', statusMsg: 'held' });
    expect(transition(held, open)).toBeNull();
    const gone = { ...held, status: 'failed', statusMsg: 'canceled', finalizedAtMs: 9 } as const;
    expect(transition(held, gone)).toMatchObject({ status: 'failed', statusMsg: 'canceled' });
    expect(transition(held, { ...done, direction: 'inbound' })).toMatchObject({
      status: 'completed',
      statusMsg: 'completed',
    });
  });

  test('its own index, creation and note, and what the node does not know', () => {
    const own = samplePayment(1, {
      personalNote: 'mine',
      message: 'hi',
      invoice: 'lnbc1',
      txid: 'aa',
    });
    const shown = sampleDone(1, {
      index: paymentIndex(77, idOf(own)),
      createdAtMs: 77,
      personalNote: 'theirs',
    });
    expect(transition(own, shown)).toMatchObject({
      index: own.index,
      createdAtMs: own.createdAtMs,
      personalNote: 'mine',
      message: 'hi',
      invoice: 'lnbc1',
      txid: 'aa',
      status: 'completed',
    });
  });

  test('nothing new is no change', () => {
    expect(transition(pending, { ...pending, updatedAtMs: 99 })).toBeNull();
    expect(transition(done, done)).toBeNull();
  });
});

describe('terminal stays terminal', () => {
  const moves = [
    [done, failed],
    [done, pending],
    [failed, done],
    [failed, pending],
  ] as const;
  for (const [from, to] of moves) {
    test(`${from.status} is never left for ${to.status}`, () => {
      expect(transition(from, to)).toBeNull();
    });
  }

  test('an older word on a Lightning payment, which may arrive last, is no error for the log', () => {
    const observed = (from: Payment, to: Payment) => {
      logged = [];
      rules().transition(from, { payment: to, attempt: null });
      return logged.length;
    };
    expect(observed(done, pending)).toBe(0);
    expect(observed(done, failed)).toBe(1);
    const onchain = { rail: 'onchain' } as const;
    expect(observed({ ...done, ...onchain }, { ...pending, ...onchain })).toBe(1);
  });

  test('what ended a payment, and when, does not change afterwards', () => {
    const again = { ...failed, statusMsg: 'another reason', finalizedAtMs: 99, amountMsat: 2000n };
    expect(transition(failed, again)).toMatchObject({
      statusMsg: failed.statusMsg,
      finalizedAtMs: failed.finalizedAtMs,
    });
    expect(transition({ ...failed, finalizedAtMs: null }, failed)).toBeNull();
  });
});

/** Attempts to pay one hash. An outside one is made by another program and not by this wallet. */
const attempts = fc.array(fc.record({ outside: fc.boolean() }), { minLength: 1, maxLength: 6 });

test('each row ends as its own attempt ended, in whatever order and however often attempts are shown', async () => {
  await fc.assert(
    fc.asyncProperty(
      attempts,
      fc.boolean(),
      fc.infiniteStream(fc.nat()),
      async (script, lastSucceeds, choices) => {
        const store = openSqliteStore(':memory:');
        const pick = (below: number) => Number(choices.next().value ?? 0) % below;
        /** The states of the node's attempts, oldest first. The number of an attempt is its place. */
        const shown: Payment[] = [];
        const rows = new Map<string, number>();
        const at = (ms: number) => ({
          createdAtMs: ms,
          updatedAtMs: ms,
          index: paymentIndex(ms, idOf(pending)),
        });
        const show = (attempt: number) => {
          const payment = shown[attempt - 1];
          if (!payment) throw new Error(`no attempt ${attempt}`);
          return observe(store, [payment], { journaled: true, attempt });
        };
        const showEarlier = async () => {
          for (let times = pick(4); times > 0 && shown.length > 0; times--) {
            await show(1 + pick(shown.length));
          }
        };
        for (const [position, { outside }] of script.entries()) {
          const isLast = position === script.length - 1;
          const began = at(100 * (position + 1));
          const attempt = shown.length + 1;
          if (!outside) {
            const own = samplePayment(1, began);
            const previous = await store.journal.latest(WALLET, idOf(own));
            const spend = newSpend(own, { afterAttempt: shown.length, previous });
            expect(await store.spends.begin(WALLET, spend, fits)).toBe(true);
            rows.set(own.index, attempt);
          }
          await showEarlier();
          // The node's creation times differ from those of the rows.
          const atNode = at(began.createdAtMs + 1 + pick(50));
          shown.push(samplePayment(1, atNode));
          if (pick(2) === 0) await show(attempt);
          await showEarlier();
          shown[attempt - 1] =
            isLast && lastSucceeds ? sampleDone(1, atNode) : sampleFailed(1, atNode);
          await show(attempt);
          await showEarlier();
        }
        for (const [index, attempt] of rows) {
          const row = await store.journal.get(WALLET, index as Payment['index']);
          expect(row?.status).toBe(shown[attempt - 1]?.status);
        }
        const all = await store.journal.updatedAfter(WALLET, null, 100);
        expect(all).toHaveLength(shown.length);
        expect(all.every(isFinal)).toBe(true);
        expect(await store.spends.unfinished(WALLET)).toEqual([]);
        await store.close();
      },
    ),
    { numRuns: rounds(40, 200) },
  );
}, 120_000);

describe('an on-chain payment that another transaction spends the coins of', () => {
  const REPLACEMENT = '02'.repeat(32);
  const receipt = {
    ...samplePayment(1),
    rail: 'onchain',
    kind: 'onchain',
    direction: 'inbound',
  } as const;
  const replaced = { ...receipt, replacement: REPLACEMENT };
  const ended = { ...replaced, status: 'failed', statusMsg: 'replaced' } as const;
  const see = (previous: Payment, payment: Payment, inBlock: boolean) =>
    rules().transition(previous, { payment, attempt: null, inBlock });

  test('keeps its replacement while nothing shows that it is gone', () => {
    expect(see(replaced, receipt, false)).toBeNull();
  });

  test('has no replacement any more once a block has its own transaction', () => {
    expect(see(replaced, receipt, true)).toMatchObject({ replacement: null, status: 'pending' });
  });

  test('stays failed while the node still lists its transaction as unconfirmed', () => {
    expect(see(ended, receipt, false)).toBeNull();
  });
});
