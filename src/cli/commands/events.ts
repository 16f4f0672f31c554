import { z } from 'zod';
import type { PaymentEvent } from '../../client/index.ts';
import { printable, printableJson } from '../../lib/printable.ts';
import { type PaymentJson, paymentJson } from '../../model/payment.ts';
import { asking, flag } from '../command.ts';
import { readPosition } from '../inputs.ts';
import { statusWords } from '../terminal/payment-text.ts';
import { moment, sats } from '../terminal/words.ts';

/** Adds `events`, which prints each update of a payment as it happens. */
export const addEvents = asking(
  'events',
  {
    about:
      'Print every update of a payment as it happens, without an end. A broken connection is opened again and nothing is missed. With --json each line is an object with "payment" and "updated_index".',
    words: {
      after: flag(
        '--after <position>',
        'begin after this update (default: with the next one)',
        readPosition,
      ),
    },
    examples: ['events', 'events --json --after u0000001764000000000-ln_...'],
  },
  async ({ after }, { io, flags, ask }) => {
    let last = after ?? null;
    const unwatch = io.terminal.onInterrupt(() => {
      if (last !== null) io.stderr(`\nContinue with --after ${printable(last)}`);
    });
    io.stderr('Waiting for updates. Ctrl-C ends it.');
    const print = (event: PaymentEvent) => {
      const isRead = io.stdout(
        flags.json ? jsonLine(event) : line(paymentJson().parse(event.payment)),
      );
      if (isRead) last = event.updatedIndex;
      return isRead;
    };
    await ask(
      async (sidecar) => {
        for await (const event of sidecar.events({ startIndex: after })) if (!print(event)) break;
        return null;
      },
      z.null(),
      null,
    ).finally(unwatch);
  },
);

function jsonLine({ payment, updatedIndex }: PaymentEvent): string {
  return printableJson(JSON.stringify({ updated_index: updatedIndex, payment }));
}

function line(payment: PaymentJson): string {
  const { updated_at, direction, amount, index } = payment;
  const what = amount === null ? 'any amount' : sats(amount);
  return printable([moment(updated_at), direction, what, statusWords(payment), index].join('  '));
}
