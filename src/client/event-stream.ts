/** The sidecar writes every 15 seconds; a stream that is silent for three times as long is dead. */
const SILENCE_MS = 45_000;

/** An event of a stream, as it stands there. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  /** Where the reader stands after this event; empty when the stream has not said. */
  readonly lastEventId: string;
}

/** What is used of a stream's reader, whose type differs between runtimes. */
interface ByteReader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6). Blocks that carry an id and no data are given too, with
 * empty data: they say where to go on. Ends when the stream ends, breaks or falls silent; cancels it when the reader
 * stops.
 */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const block = new EventBlock();
  let rest = '';
  try {
    while (true) {
      const bytes = await readWithin(reader, SILENCE_MS);
      if (bytes === null) return;
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const event = block.take(line.endsWith('\r') ? line.slice(0, -1) : line);
        if (event) yield event;
      }
    }
  } finally {
    await cancel(reader);
  }
}

/** The next bytes, or null when there will be none. */
async function readWithin(reader: ByteReader, silenceMs: number): Promise<Uint8Array | null> {
  const timer = setTimeout(() => cancel(reader), silenceMs);
  try {
    return (await reader.read()).value ?? null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

async function cancel(reader: ByteReader): Promise<void> {
  // A stream that has broken cannot be canceled any more, and need not be.
  await reader.cancel().catch(() => undefined);
}

/** The lines since the last empty one. */
class EventBlock {
  #event = '';
  #data: string[] = [];
  #lastEventId = '';
  #idGiven = false;

  /** Takes a line; returns the event that it ends. */
  take(line: string): StreamEvent | null {
    if (line === '') return this.#end();
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    if (name === 'id') {
      this.#lastEventId = value;
      this.#idGiven = true;
    }
    return null;
  }

  #end(): StreamEvent | null {
    const event = {
      event: this.#event || 'message',
      data: this.#data.join('\n'),
      lastEventId: this.#lastEventId,
    };
    const worthTelling = this.#data.length > 0 || this.#idGiven;
    this.#event = '';
    this.#data = [];
    this.#idGiven = false;
    return worthTelling ? event : null;
  }
}
