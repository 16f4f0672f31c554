/** Milliseconds between comments that keep an idle stream open through proxies. */
const HEARTBEAT_MS = 15_000;

/** One server-sent event. */
export interface ServerSentEvent {
  /** Sent back as Last-Event-ID when the stream is resumed. */
  readonly id?: string;
  readonly event: string;
  /** JSON text, on one line. */
  readonly data: string;
}

/**
 * Answers with a stream of server-sent events (WHATWG HTML, section 9.2) that goes on after `startId`, with a comment
 * every 15 seconds while nothing happens. The source is read only as fast as the client reads; `onGone` is called when
 * the client goes away and must end the source. `last` makes the final event out of the error that ended it.
 */
export function eventStream(
  startId: string,
  source: AsyncGenerator<readonly ServerSentEvent[]>,
  last: (error: unknown) => ServerSentEvent | null,
  onGone: () => void,
): Response {
  const encoder = new TextEncoder();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // Tells the client at once that the stream is open, and where to go on if it breaks before the first event.
      controller.enqueue(encoder.encode(`: open\nid: ${startId}\n\n`));
      heartbeat = setInterval(
        () => controller.enqueue(encoder.encode(': alive\n\n')),
        HEARTBEAT_MS,
      );
    },
    async pull(controller) {
      try {
        const { value, done } = await source.next();
        if (value) controller.enqueue(encoder.encode(value.map(writeEvent).join('')));
        if (!done) return;
      } catch (error) {
        const event = last(error);
        if (event) controller.enqueue(encoder.encode(writeEvent(event)));
      }
      clearInterval(heartbeat);
      controller.close();
    },
    cancel() {
      clearInterval(heartbeat);
      onGone();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}

function writeEvent({ id, event, data }: ServerSentEvent): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`;
  return `${idLine}event: ${event}\ndata: ${data}\n\n`;
}
