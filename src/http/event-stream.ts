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

interface StreamTime {
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

/** What a source of events calls. */
export interface EventReader {
  /** Takes the batch that was asked for. */
  readonly take: (events: readonly ServerSentEvent[]) => void;
  readonly end: (last: ServerSentEvent | null) => void;
}

interface EventStreamOptions {
  /** The id from which the client resumes if the stream breaks before its first event. */
  readonly startId: string;
  /**
   * Opens the source of the events, and returns the function that asks it for one batch. It is called only when the
   * client has read the batch before.
   */
  readonly source: (reader: EventReader) => () => void;
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
  const { startId, source, onGone, time = systemTime } = options;
  let ask = () => {};
  let asked = false;
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
      ask = source({
        take(events) {
          if (ended) return;
          asked = false;
          controller.enqueue(bytesOf(events));
        },
        end(last) {
          if (ended) return;
          end();
          if (last) controller.enqueue(bytesOf([last]));
          controller.close();
        },
      });
    },
    pull() {
      takenAtMs = time.elapsedMs();
      if (asked) return;
      asked = true;
      ask();
    },
    cancel() {
      end();
      onGone();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream' },
  });
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
