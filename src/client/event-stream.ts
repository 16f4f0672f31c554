/** The sidecar writes at least every 15 seconds, so a stream that is silent for three times as long is dead. */
const SILENCE_MS = 45_000;

/** One event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  /** The id from which a reader can resume after this event; empty when the stream has sent none. */
  readonly lastEventId: string;
}

/** The methods of a stream's reader that are used here. The reader's type differs between runtimes. */
interface ByteReader {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6). A block with an id and no data is yielded with empty data,
 * because the id says where to resume. The generator ends when the stream ends, breaks or falls silent. When its reader
 * stops early, it cancels the stream.
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

/** Returns the next bytes; null when the stream has ended, broken or fallen silent. */
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
  // Canceling a broken stream fails, which does not matter.
  await reader.cancel().catch(() => undefined);
}

/** Collects the lines up to the next empty one. */
class EventBlock {
  #event = '';
  #data: string[] = [];
  #lastEventId = '';
  #idGiven = false;

  /** Adds a line. Returns the event if the line ends one, otherwise null. */
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
