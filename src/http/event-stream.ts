import { elapsedMs } from '../lib/clock.ts';

/** The interval in milliseconds between comments, which keep proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** A client that reads nothing for this long, although data waits for it, is treated as gone. */
const UNREAD_MS = 30_000;

const encoder = new TextEncoder();
const ALIVE = encoder.encode(': alive\n\n');

/** One server-sent event. */
export interface ServerSentEvent {
  /** The client sends this id back as Last-Event-ID when it resumes the stream. */
  readonly id?: string;
  readonly event: string;
  /** JSON text without line breaks. */
  readonly data: string;
}

/** The clock and timer of a stream, which tests replace. */
export interface StreamTime {
  /** Returns monotonic milliseconds. */
  readonly elapsedMs: () => number;
  /** Calls `beat` every `ms` milliseconds until the returned function is called. */
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
  /** The id from which the client resumes if the stream breaks before its first event. */
  readonly startId: string;
  /** The batches of events. The next batch is taken only when the client has read the previous one. */
  readonly source: AsyncGenerator<readonly ServerSentEvent[]>;
  /** Makes the final event from the error that ended the source; null ends the stream without one. */
  readonly last: (error: unknown) => ServerSentEvent | null;
  /** Called when the client goes away or stops reading. It must end the source. */
  readonly onGone: () => void;
  readonly time?: StreamTime;
}

/**
 * Returns an answer with a stream of server-sent events (WHATWG HTML, section 9.2). A comment is sent every 15 seconds
 * while nothing happens. At most one batch of the source waits for the client. If a client reads nothing for 30 seconds
 * although data waits for it, the stream is closed (docs/decisions.md 75).
 */
export function eventStream(options: EventStreamOptions): Response {
  const { startId, source, last, onGone, time = systemTime } = options;
  let stopBeats = () => {};
  let ended = false;
  /** The latest time at which the client is known to have read everything. */
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
      // This first comment lets the client know at once that the stream is open.
      controller.enqueue(encoder.encode(`: open\nid: ${startId}\n\n`));
      stopBeats = time.every(HEARTBEAT_MS, () => beat(controller));
    },
    async pull(controller) {
      takenAtMs = time.elapsedMs();
      const { events, done } = await nextOf(source, last);
      if (ended) return;
      if (events.length > 0) controller.enqueue(bytesOf(events));
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

/** The bytes of batches that several streams send. */
const encoded = new WeakMap<readonly ServerSentEvent[], Uint8Array>();

function bytesOf(events: readonly ServerSentEvent[]): Uint8Array {
  const known = encoded.get(events);
  if (known) return known;
  const bytes = encoder.encode(events.map(writeEvent).join(''));
  encoded.set(events, bytes);
  return bytes;
}

function writeEvent({ id, event, data }: ServerSentEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `${idLine}event: ${event}\ndata: ${data}\n\n`;
}
