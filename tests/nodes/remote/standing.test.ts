import { beforeEach, describe, expect, test } from 'bun:test';
import { type Standing, StandingWatch } from '../../../src/nodes/remote/calls/standing.ts';

const LOCKED = { closed: 'is locked: unlock it.' };

describe('what is known of a node', () => {
  let nowMs = 0;
  let probes: PromiseWithResolvers<void>[] = [];
  let watch: StandingWatch;
  beforeEach(() => {
    nowMs = 0;
    probes = [];
    watch = new StandingWatch(
      () => nowMs,
      () => {
        const probe = Promise.withResolvers<void>();
        probes.push(probe);
        return probe.promise;
      },
    );
  });
  const answered = async (standing: Standing) => {
    watch.note(standing);
    probes.at(-1)?.resolve();
    await Bun.sleep(0);
  };

  test('is nothing at first, and reading it asks it once', async () => {
    expect([watch.now(), watch.now(), probes.length]).toEqual(['unknown', 'unknown', 1]);
    await answered('open');
    expect(watch.now()).toBe('open');
  });

  test('is what the last contact showed, and it is not asked while that is fresh', () => {
    watch.note('open');
    nowMs = 29_999;
    expect([watch.now(), probes.length]).toEqual(['open', 0]);
  });

  test('is asked for again after 30 seconds without contact', async () => {
    watch.note('open');
    nowMs = 30_000;
    expect([watch.now(), probes.length]).toEqual(['open', 1]);
    await answered('silent');
    expect(watch.now()).toBe('silent');
  });

  test('is asked for again after a failure, but not more than once a second', async () => {
    watch.note('silent');
    expect([watch.now(), probes.length]).toEqual(['silent', 1]);
    await answered(LOCKED);
    nowMs = 999;
    expect([watch.now(), probes.length]).toEqual([LOCKED, 1]);
    nowMs = 1000;
    expect([watch.now(), probes.length]).toEqual([LOCKED, 2]);
  });

  test('stays what it was when asking fails', async () => {
    watch.note('silent');
    watch.now();
    probes[0]?.reject(new Error('no answer'));
    await Bun.sleep(0);
    expect(watch.now()).toBe('silent');
  });
});
