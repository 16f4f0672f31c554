import type { Command } from 'commander';
import { z } from 'zod';
import { readPositiveAmount, readSeconds } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { printable } from '../terminal/printable.ts';
import { offerQrText, qrLines } from '../terminal/qr.ts';

interface OfferFlags {
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
  oneCall<typeof createdOfferJson, [], OfferFlags>(io, command, {
    examples: ['offer --description Donations', 'offer --min-amount 100 --expiry 30d --no-qr'],
    call: (sidecar, { flags: { description, minAmount: min_amount, expiry: expiration_secs } }) =>
      sidecar.createOffer({ description, min_amount, expiration_secs }),
    answer: createdOfferJson,
    lines: ({ offer }, { flags }) => [
      printable(offer),
      ...(flags.qr ? qrLines(io, offerQrText(offer)) : []),
    ],
  });
}
