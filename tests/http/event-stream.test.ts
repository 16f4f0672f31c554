import { describe, expect, test } from 'bun:test';
import {
  type EventReader,
  eventStream,
  type ServerSentEvent,
} from '../../src/http/event-stream.ts';
import { throwing } from '../support/rejection.ts';

const event: ServerSentEvent = { event: 'payment', data: '{}' };

/** Opens a stream whose clock and source the test controls. */
function openStream(source: (reader: EventReader) => () => void) {
  let nowMs = 0;
  let beat: (() => void) | null = null;
  let gone = false;
  const { body } = eventStream({
    startId: 'u1',
    source,
    onGone: () => {
      gone = true;
    },
    time: {
      elapsedMs: () => nowMs,
      every: (ms, run) => {
        beat = () => {
          nowMs += ms;
          run();
        };
        return () => {
          beat = null;
        };
      },
    },
  });
  if (body === null) throw new Error('the stream has no body');
  const reader = body.getReader();
  return {
    read: async () => new TextDecoder().decode((await reader.read()).value),
    reader,
    /** Moves the time forward by 15 seconds; false when the stream has stopped its timer. */
    beat: () => {
      beat?.();
      return beat !== null;
    },
    gone: () => gone,
  };
}

const silence = () => () => undefined;

const plenty =
  (made: { count: number }) =>
  ({ take }: EventReader) =>
  () => {
    made.count++;
    take([event]);
  };

describe('an event stream', () => {
  test('writes no comment while what was written has not been taken', async () => {
    const stream = openStream(silence);
    stream.beat();
    expect(await stream.read()).toBe(': open\nid: u1\n\n');
    const next = stream.read();
    stream.beat();
    expect(await next).toBe(': alive\n\n');
  });

  test('takes no more from its source than one batch before the client reads', async () => {
    const made = { count: 0 };
    const stream = openStream(plenty(made));
    expect(await stream.read()).toBe(': open\nid: u1\n\n');
    await Bun.sleep(0);
    expect(made.count).toBe(1);
    expect(await stream.read()).toBe('event: payment\ndata: {}\n\n');
  });

  test('ends after 30 seconds in which its client took nothing', async () => {
    const stream = openStream(plenty({ count: 0 }));
    await stream.read();
    await Bun.sleep(0);
    expect(stream.beat()).toBe(true);
    expect(stream.gone()).toBe(false);
    expect(stream.beat()).toBe(false);
    expect(stream.gone()).toBe(true);
    expect(await throwing(stream.read())).toThrow('does not read');
  });

  test('goes on while its client takes something in 30 seconds, or nothing waits for it', async () => {
    const stream = openStream(plenty({ count: 0 }));
    for (let round = 0; round < 10; round++) {
      await stream.read();
      await Bun.sleep(0);
      expect(stream.beat()).toBe(true);
    }
    const idle = openStream(silence);
    await idle.read();
    for (let round = 0; round < 10; round++) {
      const read = idle.read();
      expect(idle.beat()).toBe(true);
      await read;
    }
    expect([stream.gone(), idle.gone()]).toEqual([false, false]);
  });

  test('ends its source when the client goes away', async () => {
    const stream = openStream(silence);
    await stream.reader.cancel();
    expect(stream.gone()).toBe(true);
    expect(stream.beat()).toBe(false);
  });
});
