import { type Command, Option } from 'commander';
import { z } from 'zod';
import { ADDRESS_TYPES, type AddressType } from '../../model/receive.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { printable } from '../terminal/printable.ts';
import { addressQrText, qrLines } from '../terminal/qr.ts';

const addressJson = z.object({ address: z.string() });

interface AddressFlags {
  readonly qr: boolean;
  readonly type?: AddressType;
}

/** Adds `address`, which shows the next unused on-chain address. */
export function addAddress(parent: Command, io: CliIo): void {
  const command = parent
    .command('address')
    .description(
      'Print an on-chain address and its QR code. It stays the same until it receives a payment.',
    )
    .addOption(
      new Option('--type <type>', 'kind of the address; segwit unless given').choices(
        ADDRESS_TYPES,
      ),
    )
    .option('--no-qr', 'do not print the QR code');
  oneCall<typeof addressJson, [], AddressFlags>(io, command, {
    examples: ['address', 'address --type taproot --no-qr'],
    call: (sidecar, { flags: { type } }) => sidecar.getNextUnusedAddress({ type }),
    answer: addressJson,
    lines: ({ address }, { flags }) => [
      printable(address),
      ...(flags.qr ? qrLines(io, addressQrText(address)) : []),
    ],
  });
}
