import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../terminal/printable.ts';
import { addressQrText, qrLines } from '../terminal/qr.ts';
import { show } from '../terminal/show.ts';

const addressJson = z.object({ address: z.string() });

/** Adds `address`, which shows the next unused on-chain address. */
export function addAddress(parent: Command, io: CliIo): void {
  const command = parent
    .command('address')
    .description(
      'Print an on-chain address and its QR code. It stays the same until it receives a payment.',
    )
    .option('--no-qr', 'do not print the QR code');
  withExamples(withConnection(command), 'address', 'address --no-qr').action(
    async (flags: ConnectionFlags & { readonly qr: boolean }) => {
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.getNextUnusedAddress(),
        addressJson,
      );
      show(io, flags, answer, ({ address }) => [
        printable(address),
        ...(flags.qr ? qrLines(io, addressQrText(address)) : []),
      ]);
    },
  );
}
