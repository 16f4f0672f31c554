import type { Command } from 'commander';
import { createdInvoiceJson } from '../../model/receive.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { followPayment } from '../follow.ts';
import { sidecarClient } from '../http.ts';
import { readHex32, readPositiveAmount, readSecondsUpTo } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../terminal/printable.ts';
import { invoiceQrText, qrLines } from '../terminal/qr.ts';
import { show } from '../terminal/show.ts';

interface InvoiceFlags extends ConnectionFlags {
  readonly description?: string;
  readonly descriptionHash?: string;
  readonly paymentHash?: string;
  readonly expiry?: number;
  readonly note?: string;
  readonly qr: boolean;
  readonly wait?: boolean;
}

/** Adds `invoice`, which creates and shows an invoice. With --wait it then waits for the payment. */
export function addInvoice(parent: Command, io: CliIo): void {
  const command = parent
    .command('invoice')
    .description(
      'Create a Lightning invoice. Print it, its QR code and its index. With --wait and --json the payment is printed on a second line.',
    )
    .argument('[amount]', 'amount in sats; without it the payer chooses', readPositiveAmount)
    .option('--description <text>', 'text for the payer')
    .option(
      '--description-hash <hex>',
      'SHA-256 of a text that the payer gets elsewhere, in place of --description',
      readHex32,
    )
    .option(
      '--payment-hash <hex>',
      'make a hold invoice for this hash: its payment is held until "settle" is called',
      readHex32,
    )
    .option(
      '--expiry <duration>',
      'how long the invoice can be paid, such as 15m or 2h, at most 7d (default: 1d)',
      readSecondsUpTo('7d'),
    )
    .option('--note <text>', 'note that only you see')
    .option('--no-qr', 'do not print the QR code')
    .option('--wait', 'wait until the invoice is paid; exit code 1 if it expires');
  withExamples(
    withConnection(command),
    'invoice 1000 --description Coffee --wait',
    'invoice --expiry 15m --no-qr',
    'invoice 0.5 --json',
  ).action(async (amount: string | undefined, flags: InvoiceFlags) => {
    const ask = sidecarClient(io, flags);
    const body = {
      amount,
      description: flags.description,
      description_hash: flags.descriptionHash,
      payment_hash: flags.paymentHash,
      expiration_secs: flags.expiry,
      personal_note: flags.note,
    };
    const created = await ask((sidecar) => sidecar.createInvoice(body), createdInvoiceJson());
    const { index } = created.value;
    show(io, flags, created, ({ invoice }) => [
      printable(invoice),
      ...(flags.qr ? qrLines(io, invoiceQrText(invoice)) : []),
      `Index  ${printable(index)}`,
    ]);
    if (flags.wait) await followPayment(io, ask, { index, json: flags.json ?? false });
  });
}
