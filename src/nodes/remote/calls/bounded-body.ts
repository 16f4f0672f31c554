import { RemoteFailure } from './failure.ts';

const NEWLINE = 0x0a;

/** Returns the whole body as UTF-8 text. Beyond `mostBytes` it throws `oversized` and reads no further. */
export async function boundedText(
  chunks: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<string> {
  const body = new Pieces(mostBytes);
  for await (const chunk of chunks) body.add(chunk);
  return body.take();
}

/** Yields the lines of a body as they arrive, without empty ones. Throws `oversized` for a line beyond `mostBytes`. */
export async function* boundedLines(
  chunks: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<string, void, undefined> {
  const line = new Pieces(mostBytes);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end));
      start = end + 1;
      const text = line.take();
      if (text !== '') yield text;
    }
    line.add(chunk.subarray(start));
  }
  // An answer that is no stream, such as an error, may end without a line end.
  const text = line.take();
  if (text !== '') yield text;
}

/** Bytes that arrive in pieces. They are joined once, so that many small pieces cost no more than a large one. */
class Pieces {
  readonly #mostBytes: number;
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > this.#mostBytes) throw new RemoteFailure('oversized', false);
    if (piece.length > 0) this.#pieces.push(piece);
  }

  take(): string {
    const text = Buffer.concat(this.#pieces).toString('utf8');
    this.#pieces = [];
    this.#length = 0;
    return text;
  }
}
