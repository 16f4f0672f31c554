import { describe, expect, test } from 'bun:test';
import { LostParts } from '../../../src/nodes/cln/words/lost-parts.ts';
import { attemptsOf } from '../../../src/nodes/cln/words/translate.ts';
import { type ClnSendpay, sendpayShape } from '../../../src/nodes/cln/words/wire.ts';
import { memoryState } from '../../support/memory-state.ts';

/**
 * What is noted of pending parts between looks, and which of them count as lost (docs/decisions.md 169). What the looks
 * themselves say is in lost-parts.test.ts.
 */

const HASH = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
const USER = 'cc'.repeat(32);
const MADE_SECS = 1_800_000_000;
const STILL_MS = 300_000;
const AGAIN_MS = 60_000;
const HOUR_MS = 3_600_000;

const part = (created_index: number, change: object = {}): ClnSendpay =>
  sendpayShape.parse({
    created_index,
    payment_hash: HASH,
    groupid: 1,
    partid: created_index,
    status: 'pending',
    created_at: MADE_SECS,
    amount_sent_msat: 1000,
    ...change,
  });

/** Lost parts by a clock that the test sets. */
function noting(rows = memoryState()) {
  const clock = { elapsedMs: 1000 };
  const lost = new LostParts(() => clock.elapsedMs, rows, USER);
  const show = (...parts: ClnSendpay[]) =>
    lost.shown(parts[0]?.payment_hash ?? HASH, attemptsOf(parts));
  const statuses = async (...parts: ClnSendpay[]) =>
    (await lost.marked(parts)).map(({ status, isLost }) => (isLost ? `lost, ${status}` : status));
  return { clock, lost, rows, show, statuses };
}

describe('a hash is due', () => {
  test('five minutes after its parts were shown, and not before', () => {
    const { clock, lost, show } = noting();
    expect([lost.dueInMs, lost.due()]).toEqual([Number.POSITIVE_INFINITY, []]);
    show(part(1));
    expect(lost.dueInMs).toBe(STILL_MS);
    clock.elapsedMs += STILL_MS - 1;
    show(part(1));
    expect([lost.dueInMs, lost.due()]).toEqual([1, []]);
    clock.elapsedMs += 1;
    expect([lost.dueInMs, lost.due()]).toEqual([0, [HASH]]);
  });

  test('anew with each change of its pending parts', () => {
    const changes: ClnSendpay[][] = [
      [part(1), part(2), part(3)],
      [part(1)],
      [part(1), part(3)],
      [part(1), part(2, { created_at: MADE_SECS + 1 })],
      [part(1), part(2, { status: 'failed' })],
    ];
    for (const change of changes) {
      const { clock, lost, show } = noting();
      show(part(1), part(2));
      clock.elapsedMs += 1000;
      show(part(1), part(2), part(9, { status: 'failed' }));
      expect(lost.dueInMs).toBe(STILL_MS - 1000);
      show(...change);
      expect(lost.dueInMs).toBe(STILL_MS);
    }
  });

  test('no more when none of its parts is pending', () => {
    const { lost, show } = noting();
    show(part(1));
    show(part(1, { status: 'complete', payment_preimage: 'dd'.repeat(32) }));
    expect(lost.dueInMs).toBe(Number.POSITIVE_INFINITY);
    show(part(1));
    lost.shown(HASH, []);
    expect(lost.dueInMs).toBe(Number.POSITIVE_INFINITY);
  });

  test('for itself: the time of the first one counts', () => {
    const { clock, lost, show } = noting();
    show(part(1));
    clock.elapsedMs += 1000;
    show(part(2, { payment_hash: OTHER }));
    expect(lost.dueInMs).toBe(STILL_MS - 1000);
    clock.elapsedMs += STILL_MS - 1000;
    expect(lost.due()).toEqual([HASH]);
  });

  test('five minutes after a part of it was on its way, with what was missed forgotten', () => {
    const { clock, lost, show } = noting();
    show(part(1));
    expect(lost.missed(HASH, 100)).toBe(false);
    lost.uncertain(HASH);
    clock.elapsedMs += 1000;
    lost.onItsWay(HASH);
    expect([lost.dueInMs, lost.areUncertain]).toEqual([STILL_MS, false]);
    expect(lost.missed(HASH, 101)).toBe(false);
    expect(lost.areWatched(HASH, [part(1)])).toBe(true);
  });

  test('a minute after it could not be looked for, with all else as it was', () => {
    const { clock, lost, show } = noting();
    show(part(1));
    lost.missed(HASH, 100);
    lost.uncertain(HASH);
    clock.elapsedMs += 5;
    lost.postpone(HASH);
    expect([lost.dueInMs, lost.areUncertain]).toEqual([AGAIN_MS, true]);
    expect(lost.missed(HASH, 101)).toBe(true);
  });

  test('never where it is not watched', () => {
    const { lost } = noting();
    lost.onItsWay(HASH);
    lost.postpone(HASH);
    expect([lost.missed(HASH, 1), lost.missed(HASH, 2), lost.uncertain(HASH)]).toEqual([
      false,
      false,
      false,
    ]);
    expect([lost.dueInMs, lost.areUncertain]).toEqual([Number.POSITIVE_INFINITY, false]);
  });
});

describe('a hash that no channel has', () => {
  test('is missed at a lower height first, and looked for again after five minutes, then each minute', () => {
    const { clock, lost, show } = noting();
    show(part(1));
    clock.elapsedMs += STILL_MS;
    expect([lost.missed(HASH, 100), lost.dueInMs]).toEqual([false, STILL_MS]);
    clock.elapsedMs += STILL_MS;
    expect([lost.missed(HASH, 100), lost.dueInMs]).toEqual([false, AGAIN_MS]);
    expect(lost.missed(HASH, 99)).toBe(false);
    // The first height stands.
    expect([lost.missed(HASH, 101), lost.dueInMs]).toEqual([true, AGAIN_MS]);
    expect(lost.missed(HASH, 100)).toBe(false);
  });

  test('may have been missed at height 0', () => {
    const { lost, show } = noting();
    show(part(1));
    expect([lost.missed(HASH, 0), lost.missed(HASH, 0), lost.missed(HASH, 1)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('is uncertain where it may be paid, is told once, and is looked for again in an hour', () => {
    const { lost, show } = noting();
    show(part(1));
    show(part(2, { payment_hash: OTHER }));
    expect(lost.areUncertain).toBe(false);
    expect([lost.uncertain(HASH), lost.uncertain(HASH)]).toEqual([true, false]);
    expect(lost.areUncertain).toBe(true);
    show(part(2, { payment_hash: OTHER, status: 'failed' }));
    expect([lost.dueInMs, lost.areUncertain]).toEqual([HOUR_MS, true]);
    show(part(1, { status: 'failed' }));
    expect(lost.areUncertain).toBe(false);
  });
});

describe('the parts that were looked for', () => {
  test('are the same where the same ones are pending', () => {
    const { lost, show } = noting();
    expect(lost.areWatched(HASH, [])).toBe(false);
    show(part(1), part(2));
    expect(lost.areWatched(HASH, [part(1), part(2), part(3, { status: 'failed' })])).toBe(true);
    expect(lost.areWatched(OTHER, [part(1), part(2)])).toBe(false);
    for (const others of [
      [part(1)],
      [part(1), part(2), part(3)],
      [part(1), part(3)],
      [part(1), part(2, { created_at: MADE_SECS + 1 })],
      [part(1), part(2, { payment_hash: OTHER })],
      [part(1), part(2, { status: 'failed' })],
      [part(1), part(2, { status: 'complete', payment_preimage: 'dd'.repeat(32) })],
    ]) {
      expect(lost.areWatched(HASH, others)).toBe(false);
    }
  });
});

describe('a part counts as lost', () => {
  test('once it was confirmed while it was pending, for as long as it is', async () => {
    const { lost, statuses } = noting();
    expect(await statuses(part(1))).toEqual(['pending']);
    await lost.confirm([part(1), part(2, { status: 'failed' })]);
    expect(await statuses(part(1), part(2), part(3))).toEqual([
      'lost, failed',
      'pending',
      'pending',
    ]);
    expect(await statuses(part(9, { status: 'failed' }), part(1))).toEqual([
      'failed',
      'lost, failed',
    ]);
    expect(await lost.marked([part(1)])).toEqual([{ ...part(1), status: 'failed', isLost: true }]);
    const complete = { status: 'complete', payment_preimage: 'dd'.repeat(32) };
    expect(await statuses(part(1, complete), part(3))).toEqual(['complete', 'pending']);
    expect(await statuses(part(1, { status: 'failed' }), part(3))).toEqual(['failed', 'pending']);
  });

  test('by its number, its hash and its time', async () => {
    const { lost, statuses } = noting();
    await lost.confirm([part(1)]);
    for (const change of [{ payment_hash: OTHER }, { created_at: MADE_SECS + 1 }]) {
      expect(await statuses(part(1, change))).toEqual(['pending']);
    }
    expect(await statuses(part(1, { partid: 9, groupid: 9 }))).toEqual(['lost, failed']);
  });

  test('for the next start too, of the same wallet alone', async () => {
    const { lost, rows } = noting();
    await lost.confirm([part(1)]);
    expect(await rows.get(USER, 'cln_lost', 'parts')).toEqual({
      parts: [`${HASH} 1 ${MADE_SECS}`],
    });
    const again = noting(rows);
    expect(await again.statuses(part(1))).toEqual(['lost, failed']);
    await again.lost.confirm([part(2)]);
    expect(await noting(rows).statuses(part(1), part(2))).toEqual(['lost, failed', 'lost, failed']);
    const foreign = new LostParts(() => 0, rows, 'dd'.repeat(32));
    expect(await foreign.marked([part(1)])).toEqual([part(1)]);
  });

  test('as soon as it is confirmed, and once, however often that is', async () => {
    const { lost, rows, statuses } = noting();
    await lost.confirm([part(1)]);
    await lost.confirm([part(1), part(2)]);
    expect(await statuses(part(2))).toEqual(['lost, failed']);
    expect(await rows.get(USER, 'cln_lost', 'parts')).toEqual({
      parts: [`${HASH} 1 ${MADE_SECS}`, `${HASH} 2 ${MADE_SECS}`],
    });
  });

  test('with a thousand others at most, of which the oldest goes first', async () => {
    const { lost, statuses } = noting();
    await lost.confirm(Array.from({ length: 1000 }, (_, at) => part(at + 1)));
    expect(await statuses(part(1), part(1000))).toEqual(['lost, failed', 'lost, failed']);
    await lost.confirm([part(1001)]);
    expect(await statuses(part(1), part(2), part(1001))).toEqual([
      'pending',
      'lost, failed',
      'lost, failed',
    ]);
  });

  test('by a row that is read once, and only where a part is pending', async () => {
    const rows = memoryState();
    let reads = 0;
    const counted = {
      ...rows,
      get: (...asked: Parameters<typeof rows.get>) => {
        reads += 1;
        return rows.get(...asked);
      },
    };
    const { statuses } = noting(counted);
    await statuses(part(1, { status: 'failed' }));
    expect(reads).toBe(0);
    await statuses(part(1, { status: 'failed' }), part(2));
    await statuses(part(2));
    expect(reads).toBe(1);
  });
});
