import { afterEach, describe, expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import type { UpdateBatch } from '../../src/nodes/node.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { Feed } from '../../src/wallet/follow/feed.ts';
import type { Follower } from '../../src/wallet/follow/feed-options.ts';
import { observationRules } from '../../src/wallet/follow/observe.ts';
import { until } from '../support/until.ts';

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A feed of a node whose updates the test yields; `nowMs` is its clock. */
function open({ credentials = true, history = true } = {}) {
  const store = openSqliteStore(':memory:');
  const world = { nowMs: 100, streams: 0, taken: 0, next: Promise.withResolvers<UpdateBatch>() };
  const node = {
    clock: { now: () => world.nowMs },
    ...(history ? { history: { tip: async () => null } } : {}),
    async *updates({ signal }: { signal: AbortSignal }) {
      world.streams++;
      const ended = Promise.withResolvers<null>();
      signal.addEventListener('abort', () => ended.resolve(null));
      while (!signal.aborted) {
        const batch = await Promise.race([world.next.promise, ended.promise]);
        if (!batch) return;
        world.next = Promise.withResolvers();
        yield batch;
        // The feed asks for the next batch, so it has stored this one.
        world.taken++;
      }
    },
  };
  const follower = { node, ended: new AbortController().signal };
  const feed = new Feed({
    walletId: 'ab'.repeat(32),
    store,
    log,
    rules: observationRules({ log, deliver: () => null }),
    clock: { now: () => world.nowMs },
    random: () => 0,
    elapsedMs: () => world.nowMs,
    follower: async () => (credentials ? (follower as unknown as Follower) : null),
    historySinceMs: null,
    onDelivery: () => undefined,
  });
  cleanups.push(async () => {
    feed.stop();
    await Bun.sleep(0);
    await store.close();
  });
  return { feed, world };
}
const batch = (caughtUp: boolean): UpdateBatch => ({ observations: [], cursor: null, caughtUp });

const MINUTE_MS = 60_000;

test('a feed that nobody needs is closed and stands nowhere', () => {
  const { feed } = open();
  expect(feed.standing).toBeNull();
  const release = feed.hold();
  expect(feed.standing).toEqual({ state: 'behind', sinceMs: 100 });
  release();
  expect(feed.standing).toBeNull();
});

describe('a feed of a node without a history', () => {
  /** A feed that was opened and is not used any more. */
  async function unused() {
    const opened = open({ history: false });
    const release = opened.feed.hold();
    await until(() => opened.world.streams === 1);
    release();
    return opened;
  }

  test('stays open for five minutes after its last use, and may be closed meanwhile', async () => {
    const { feed, world } = await unused();
    world.nowMs += 4 * MINUTE_MS;
    feed.hold()();
    world.nowMs += 5 * MINUTE_MS - 1;
    feed.closeUnused();
    expect([feed.standing?.state, feed.busy]).toEqual(['behind', false]);
    const release = feed.hold();
    world.nowMs += 9 * MINUTE_MS;
    feed.closeUnused();
    expect(feed.standing).not.toBeNull();
    release();
    world.nowMs += 5 * MINUTE_MS;
    feed.closeUnused();
    expect(feed.standing).toBeNull();
    expect(world.streams).toBe(1);
    feed.hold();
    await until(() => world.streams === 2);
  });

  test('is stopped at once', async () => {
    const { feed } = await unused();
    feed.stop();
    expect(feed.standing).toBeNull();
    feed.hold();
    expect(feed.standing).toBeNull();
  });

  test('that breaks while nothing uses it is closed, and opened by its next use', async () => {
    const { feed, world } = await unused();
    world.next.reject(new Error('the node went away'));
    await until(() => feed.standing === null);
    expect(world.streams).toBe(1);
    feed.hold();
    expect(feed.standing?.state).toBe('behind');
  });
});

test('an open feed is behind since it was opened, until it has caught up', async () => {
  const { feed, world } = open();
  feed.hold();
  world.nowMs = 200;
  await until(() => world.streams === 1);
  world.next.resolve(batch(false));
  await until(() => world.taken === 1);
  expect(feed.standing).toEqual({ state: 'behind', sinceMs: 100 });
  world.nowMs = 300;
  world.next.resolve(batch(true));
  await feed.caughtUp();
  await until(() => feed.standing?.state === 'caught_up');
  expect(feed.standing?.sinceMs).toBe(300);
});

test('a feed that breaks is behind since then, also over several attempts', async () => {
  const { feed, world } = open();
  feed.hold();
  await until(() => world.streams === 1);
  world.next.resolve(batch(true));
  await until(() => feed.standing?.state === 'caught_up');
  world.nowMs = 400;
  world.next.reject(new Error('the node went away'));
  await until(() => feed.standing?.state === 'behind');
  world.nowMs = 500;
  await until(() => world.streams === 2);
  expect(feed.standing).toEqual({ state: 'behind', sinceMs: 400 });
});

test('a feed without credentials to ask with says so, and is not behind its node', async () => {
  const { feed } = open({ credentials: false });
  feed.hold();
  await until(() => feed.standing?.state === 'no_credentials');
});
