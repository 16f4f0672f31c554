import type { Command } from 'commander';
import { z } from 'zod';
import { paymentJson } from '../../model/payment.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { followPayment } from '../follow.ts';
import { sidecarClient } from '../http.ts';
import { readPaymentIndex, readPosition, readSeconds } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { paymentLines } from '../terminal/payment-text.ts';
import { printable } from '../terminal/printable.ts';
import { show } from '../terminal/show.ts';

interface WaitFlags extends ConnectionFlags {
  readonly timeout?: number;
  readonly next?: boolean;
  readonly after?: string;
}

const nextJson = z.object({ payment: paymentJson(), next_start_index: z.string() });

/** Adds `wait`, which waits until a payment is completed or failed, or for the next update of any payment. */
export function addWait(parent: Command, io: CliIo): void {
  const command = parent
    .command('wait')
    .description('Wait until a payment is completed; exit code 1 if it fails or the time runs out.')
    .argument('[index]', 'index of the payment', readPaymentIndex)
    .option('--next', 'in place of an index: wait for the next update of any payment')
    .option('--after <position>', 'with --next: for the first update after this one', readPosition)
    .option(
      '--timeout <duration>',
      'how long to wait, such as 30s or 2h (default: for ever)',
      readSeconds,
    );
  withExamples(
    withConnection(command),
    'wait 0000001764000000000-ln_... --timeout 10m',
    'wait --next',
  ).action(async (index: string | undefined, flags: WaitFlags) => {
    if ((index === undefined) !== (flags.next === true)) {
      command.error('give either the index of a payment or --next');
    }
    if (flags.after !== undefined && !flags.next) command.error('--after needs --next');
    if (index === undefined) return waitForNext(io, flags);
    await followPayment(io, sidecarClient(io, flags), {
      index,
      json: flags.json ?? false,
      ...(flags.timeout === undefined ? {} : { timeoutSecs: flags.timeout }),
    });
  });
}

async function waitForNext(io: CliIo, flags: WaitFlags): Promise<void> {
  const answer = await sidecarClient(io, flags)(
    (sidecar) =>
      sidecar.waitForNextPayment({ start_index: flags.after, timeout_secs: flags.timeout }),
    nextJson,
    'Waiting for an update',
  );
  show(io, flags, answer, ({ payment }) => paymentLines(payment));
  if (!flags.json) io.stderr(`Continue with --after ${printable(answer.value.next_start_index)}`);
}
