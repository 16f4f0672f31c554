import { afterEach, describe, expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import type { UpdateBatch } from '../../src/nodes/node.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { Feed } from '../../src/wallet/follow/feed.ts';
import type { Follower } from '../../src/wallet/follow/feed-options.ts';
import { observationRules } from '../../src/wallet/follow/observe.ts';
import { until } from '../support/until.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Pause {
  readonly atMs: number;
  readonly end: () => void;
}

/** A feed whose node is away, by a clock that the test moves. */
function feedOfNodeAway({ credentials = true } = {}) {
  const world = {
    nowMs: 0,
    attempts: 0,
    warnings: 0,
    /** What the node gives before it goes away. */
    given: [] as UpdateBatch[],
    /** Called before the node goes away. */
    going: async () => undefined as unknown,
  };
  const pauses = new Set<Pause>();
  const pause = (ms: number, signal?: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal?.aborted) return Promise.resolve();
    const one: Pause = {
      atMs: world.nowMs + ms,
      end() {
        pauses.delete(one);
        resolve();
      },
    };
    pauses.add(one);
    signal?.addEventListener('abort', one.end, { once: true });
    return promise;
  };
  const node = {
    clock: { now: () => world.nowMs },
    history: { tip: async () => null },
    async *updates() {
      world.attempts++;
      yield* world.given;
      await world.going();
      throw new Error('the node is away');
    },
  };
  const follower = { node, ended: new AbortController().signal };
  const log = openLog({ level: 'warn', format: 'text', write: () => world.warnings++ });
  const store = openSqliteStore(':memory:');
  const feed = new Feed({
    walletId: 'ab'.repeat(32),
    store,
    log,
    rules: observationRules({ log, deliver: () => null }),
    clock: node.clock,
    random: () => 0.5,
    elapsedMs: () => world.nowMs,
    pause,
    follower: async () => {
      if (credentials) return follower as unknown as Follower;
      world.attempts++;
      return null;
    },
    historySinceMs: null,
    onDelivery: () => undefined,
  });
  cleanups.push(async () => {
    feed.stop();
    await Bun.sleep(0);
    await store.close();
  });
  const resting = () => until(() => pauses.size > 0, 'the feed rests');
  return {
    feed,
    world,
    resting,
    /** Lets time pass until the feed rests again. */
    async pass(ms: number): Promise<void> {
      world.nowMs += ms;
      for (const { atMs, end } of [...pauses]) if (atMs <= world.nowMs) end();
      await resting();
    },
  };
}
type Away = ReturnType<typeof feedOfNodeAway>;

const BATCH: UpdateBatch = { observations: [], cursor: null, caughtUp: false };
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** Lets clients ask ten times a second, each as soon as the one before has its error. */
async function poll({ feed, pass }: Away, forMs: number): Promise<void> {
  for (let ms = 0; ms < forMs; ms += 100) {
    void feed.caughtUp().catch(() => undefined);
    void feed.caughtUp().catch(() => undefined);
    await pass(100);
  }
}

describe('a feed whose node is away', () => {
  test('tries about once a second at most, however many callers wait for it', async () => {
    const away = feedOfNodeAway();
    away.feed.hold();
    await away.resting();
    // The first pauses are shorter than a second by themselves.
    await poll(away, 2 * SECOND_MS);
    const before = away.world.attempts;
    expect(before).toBeLessThanOrEqual(6);
    await poll(away, 10 * SECOND_MS);
    expect(away.world.attempts - before).toBeLessThanOrEqual(10);
    expect(away.world.attempts - before).toBeGreaterThanOrEqual(8);
  });

  test('tries no more often when each request opens it anew', async () => {
    const away = feedOfNodeAway();
    for (let ms = 0; ms < 10 * SECOND_MS; ms += 100) {
      const release = away.feed.hold();
      void away.feed.caughtUp().catch(() => undefined);
      await away.resting();
      release();
      away.world.nowMs += 100;
    }
    expect(away.world.attempts).toBeLessThanOrEqual(14);
    expect(away.world.warnings).toBe(1);
  });

  test('tries soon for a caller after a long pause, and the caller gets the answer of that attempt', async () => {
    const away = feedOfNodeAway();
    away.feed.hold();
    await away.resting();
    for (let at = 0; at < 12; at++) await away.pass(MINUTE_MS);
    const before = away.world.attempts;
    await away.pass(2 * SECOND_MS);
    expect(away.world.attempts).toBe(before);
    const error = await away.feed.caughtUp().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'the node is away' });
    expect(away.world.attempts).toBe(before + 1);
    away.world.given = [{ ...BATCH, caughtUp: true }];
    const caughtUp = away.feed.caughtUp();
    await away.pass(SECOND_MS);
    await caughtUp;
  });

  test('is logged once at the beginning, and at growing intervals while it stays away', async () => {
    const away = feedOfNodeAway();
    away.feed.hold();
    await away.resting();
    const warnedAt: number[] = [];
    for (let sec = 0; sec <= 1000; sec += 5) {
      if (away.world.warnings > warnedAt.length) warnedAt.push(sec);
      void away.feed.caughtUp().catch(() => undefined);
      await away.pass(5 * SECOND_MS);
    }
    const gaps = warnedAt.slice(1).map((sec, at) => sec - (warnedAt[at] ?? 0));
    expect(warnedAt[0]).toBe(0);
    expect(gaps).toHaveLength(4);
    for (const [at, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(60 * 2 ** at);
  });

  test('is logged anew when the node was followed for a while in between', async () => {
    const away = feedOfNodeAway();
    away.feed.hold();
    await away.resting();
    away.world.given = [BATCH];
    away.world.going = async () => {
      away.world.nowMs += 15 * SECOND_MS;
    };
    await away.pass(MINUTE_MS / 2);
    expect(away.world.warnings).toBe(2);
  });

  test('tries about once a second, and is one outage, where the node can be followed for a moment only', async () => {
    const away = feedOfNodeAway();
    away.world.given = [BATCH];
    away.feed.hold();
    await away.resting();
    for (let ms = 0; ms < 10 * SECOND_MS; ms += 100) await away.pass(100);
    expect(away.world.attempts).toBe(11);
    expect(away.world.warnings).toBe(1);
  });
});

describe('a feed without credentials', () => {
  test('looks for some about once a second at most, and at once when one is added', async () => {
    const away = feedOfNodeAway({ credentials: false });
    away.feed.hold();
    await away.resting();
    await poll(away, 10 * SECOND_MS);
    const before = away.world.attempts;
    expect(before).toBeLessThanOrEqual(11);
    away.feed.credentialAdded();
    await until(() => away.world.attempts > before, 'credentials are looked for');
  });
});
