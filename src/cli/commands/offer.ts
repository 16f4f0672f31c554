import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import { readPositiveAmount, readSeconds } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../terminal/printable.ts';
import { offerQrText, qrLines } from '../terminal/qr.ts';
import { show } from '../terminal/show.ts';

interface OfferFlags extends ConnectionFlags {
  readonly description?: string;
  readonly minAmount?: string;
  readonly expiry?: number;
  readonly qr: boolean;
}

const createdOfferJson = z.object({ offer: z.string() });

/** Adds `offer`, which creates and shows a reusable offer. */
export function addOffer(parent: Command, io: CliIo): void {
  const command = parent
    .command('offer')
    .description('Create a BOLT 12 offer, which can be paid many times. Print it and its QR code.')
    .option('--description <text>', 'text for the payer')
    .option('--min-amount <sats>', 'smallest amount (default: any)', readPositiveAmount)
    .option(
      '--expiry <duration>',
      'how long the offer can be paid, such as 30d (default: for ever)',
      readSeconds,
    )
    .option('--no-qr', 'do not print the QR code');
  withExamples(
    withConnection(command),
    'offer --description Donations',
    'offer --min-amount 100 --expiry 30d --no-qr',
  ).action(async (flags: OfferFlags) => {
    const body = {
      description: flags.description,
      min_amount: flags.minAmount,
      expiration_secs: flags.expiry,
    };
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.createOffer(body),
      createdOfferJson,
    );
    show(io, flags, answer, ({ offer }) => [
      printable(offer),
      ...(flags.qr ? qrLines(io, offerQrText(offer)) : []),
    ]);
  });
}
