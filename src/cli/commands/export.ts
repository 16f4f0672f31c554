import { z } from 'zod';
import type { Transport } from '../../client/transport.ts';
import { printable } from '../../lib/printable.ts';
import { CallFailed } from '../call-failed.ts';
import { asking, flag } from '../command.ts';
import { readPast } from '../inputs.ts';

/** How the last line begins where rows are missing, in both forms. */
const INCOMPLETE = /^(?:\{"kind":"incomplete"|[^,"]*,,,incomplete,)/;

/** Adds `export`, which prints all completed payments for bookkeeping. */
export const addExport = asking(
  'export',
  {
    about:
      'Print all completed payments in the order in which they were completed, each with what it changed and the sum so far (amounts in sats, fees included). A last row says what the balance of the node differs from the sum, if it does.',
    words: {
      format: flag(
        '--format <format>',
        'a table for spreadsheets, or one JSON object for each line',
        ['csv', 'jsonl'],
        'csv',
      ),
      since: flag(
        '--since <time>',
        'print those completed at or after this time, such as 2030-01-31, behind the sum of all before',
        readPast,
      ),
      until: flag('--until <time>', 'print those completed before this time', readPast),
      sync: flag('--no-sync', 'take the cache as it is, without asking the node for new payments'),
    },
    examples: [
      'export > payments.csv',
      'export --format jsonl --since 2030-01-01 --until 2031-01-01',
    ],
  },
  async ({ format, since, until, sync }, { io, flags, ask }) => {
    const asJson = flags.json || format === 'jsonl';
    const query = { format: asJson ? 'json' : 'csv', since, until, sync: sync ? undefined : false };
    const { value: last } = await ask(
      async (_, transport) => {
        let last = '';
        const mediaType = asJson ? 'application/x-ndjson' : 'text/csv';
        const stream = await transport.open('/v2/node/export', { query, mediaType });
        for await (const line of linesOf(stream, transport)) {
          // Any program may listen at the address; the lines of a sidecar are printable as they are.
          last = printable(line);
          io.stdout(last);
        }
        return last;
      },
      z.string(),
      null,
    );
    if (INCOMPLETE.test(last)) {
      throw new CallFailed('The export ended early, as its last row says: export again.');
    }
  },
);

/** Yields the lines of a stream. Throws the error of a call without an answer when it breaks. */
async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  transport: Transport,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const bytes of stream) {
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw transport.unanswered({ method: 'GET' }, error);
  }
  if (rest !== '') throw transport.unanswered({ method: 'GET' }, 'The last line broke off.');
}
