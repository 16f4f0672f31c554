import { elapsedMs } from '../lib/clock.ts';

/** Milliseconds between comments that keep an idle stream open through proxies. */
const HEARTBEAT_MS = 15_000;
/** A client that takes nothing for so long, while something waits for it, is gone. */
const UNREAD_MS = 30_000;

const encoder = new TextEncoder();
const ALIVE = encoder.encode(': alive\n\n');

/** One server-sent event. */
export interface ServerSentEvent {
  /** Sent back as Last-Event-ID when the stream is resumed. */
  readonly id?: string;
  readonly event: string;
  /** JSON text, on one line. */
  readonly data: string;
}

/** The time that a stream goes by. */
export interface StreamTime {
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number;
  /** Calls back every so many milliseconds, until the returned function is called. */
  readonly every: (ms: number, beat: () => void) => () => void;
}

const systemTime: StreamTime = {
  elapsedMs,
  every(ms, beat) {
    const timer = setInterval(beat, ms);
    return () => clearInterval(timer);
  },
};

interface EventStreamOptions {
  /** Where the client resumes if the stream breaks before its first event. */
  readonly startId: string;
  /** Read only as fast as the client reads. */
  readonly source: AsyncGenerator<readonly ServerSentEvent[]>;
  /** The final event, made out of the error that ended the source. */
  readonly last: (error: unknown) => ServerSentEvent | null;
  /** Called when the client goes away or takes nothing any more; must end the source. */
  readonly onGone: () => void;
  readonly time?: StreamTime;
}

/**
 * Answers with a stream of server-sent events (WHATWG HTML, section 9.2), with a comment every 15 seconds while nothing
 * happens. At most one batch of the source waits for the client, and a client that takes nothing for 30 seconds while
 * something waits is cut off.
 */
export function eventStream(options: EventStreamOptions): Response {
  const { startId, source, last, onGone, time = systemTime } = options;
  let stopBeats = () => {};
  let ended = false;
  /** When the last of what was written was taken, as far as is known. */
  let takenAtMs = time.elapsedMs();
  const end = () => {
    ended = true;
    stopBeats();
  };
  const beat = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if ((controller.desiredSize ?? 0) > 0) {
      takenAtMs = time.elapsedMs();
      controller.enqueue(ALIVE);
      return;
    }
    if (time.elapsedMs() - takenAtMs < UNREAD_MS) return;
    end();
    controller.error(new Error('The client of an event stream does not read.'));
    onGone();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // Tells the client at once that the stream is open.
      controller.enqueue(encoder.encode(`: open\nid: ${startId}\n\n`));
      stopBeats = time.every(HEARTBEAT_MS, () => beat(controller));
    },
    async pull(controller) {
      takenAtMs = time.elapsedMs();
      const { events, done } = await nextOf(source, last);
      if (ended) return;
      if (events.length > 0) controller.enqueue(encoder.encode(events.map(writeEvent).join('')));
      if (!done) return;
      end();
      controller.close();
    },
    cancel() {
      end();
      onGone();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}

async function nextOf(
  source: AsyncGenerator<readonly ServerSentEvent[]>,
  last: (error: unknown) => ServerSentEvent | null,
): Promise<{ readonly events: readonly ServerSentEvent[]; readonly done: boolean }> {
  try {
    const { value, done } = await source.next();
    return { events: value ?? [], done: done === true };
  } catch (error) {
    const event = last(error);
    return { events: event ? [event] : [], done: true };
  }
}

function writeEvent({ id, event, data }: ServerSentEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `${idLine}event: ${event}\ndata: ${data}\n\n`;
}
