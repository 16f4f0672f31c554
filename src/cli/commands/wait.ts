import type { Command } from 'commander';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { followPayment } from '../follow.ts';
import { sidecarClient } from '../http.ts';
import { readPaymentIndex, readSeconds } from '../inputs.ts';
import type { CliIo } from '../io.ts';

/** Adds `wait`, which waits until a payment is completed or failed. */
export function addWait(parent: Command, io: CliIo): void {
  const command = parent
    .command('wait')
    .description('Wait until a payment is completed; exit code 1 if it fails or the time runs out.')
    .argument('<index>', 'index of the payment', readPaymentIndex)
    .option(
      '--timeout <duration>',
      'how long to wait, such as 30s or 2h (default: for ever)',
      readSeconds,
    );
  withExamples(withConnection(command), 'wait 0000001764000000000-ln_... --timeout 10m').action(
    async (index: string, flags: ConnectionFlags & { readonly timeout?: number }) => {
      await followPayment(io, sidecarClient(io, flags), {
        index,
        json: flags.json ?? false,
        ...(flags.timeout === undefined ? {} : { timeoutSecs: flags.timeout }),
      });
    },
  );
}
