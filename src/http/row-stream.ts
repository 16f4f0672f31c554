interface RowStreamOptions<Row> {
  readonly mediaType: string;
  readonly head: string;
  /** Pages of at least one row. */
  readonly pages: AsyncGenerator<readonly Row[], void>;
  readonly lineOf: (row: Row) => string;
  /** Aborts when no more may be sent; its reason is then given to {@link lastOf}. */
  readonly signal: AbortSignal;
  /** Makes the last row of an answer that ends early, from why, and the last row before it. */
  readonly lastOf: (error: unknown, before: Row | undefined) => Row;
  /** Called when nothing more is sent, also because the caller went away. */
  readonly onEnd: () => void;
}

/**
 * Returns an answer that reads a page when its caller has taken the one before: one page is in memory, and one more
 * waits. Rejects when the first page cannot be read: the request has then an error for an answer.
 */
export async function rowStream<Row>(options: RowStreamOptions<Row>): Promise<Response> {
  const { mediaType, pages, lineOf, signal, lastOf, onEnd } = options;
  const encoder = new TextEncoder();
  let { head } = options;
  let next = await pages.next();
  let before: Row | undefined;
  let isGone = false;
  const page = async (): Promise<readonly Row[]> => {
    if (next.done) return [];
    try {
      signal.throwIfAborted();
      const rows = next.value;
      next = await pages.next();
      before = rows.at(-1);
      return rows;
    } catch (error) {
      // The page that was read is left out as well: why it must not go on may hold for it.
      next = { done: true, value: undefined };
      return [lastOf(error, before)];
    }
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = head + (await page()).map(lineOf).join('');
        head = '';
        if (isGone) return;
        if (text !== '') controller.enqueue(encoder.encode(text));
        if (!next.done) return;
        onEnd();
        controller.close();
      },
      async cancel() {
        isGone = true;
        onEnd();
        await pages.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': mediaType } });
}
