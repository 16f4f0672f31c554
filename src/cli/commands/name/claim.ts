import type { Command } from 'commander';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { nameJson, nameLines } from './one-name.ts';

/** Adds `name claim`, which claims or changes the wallet's name. */
export function addNameClaim(name: Command, io: CliIo): void {
  const command = name
    .command('claim')
    .description('Claim or change the name. It can be changed for a day, and rests for 90 days.')
    .argument('<username>', 'the part before the @: 6 to 24 lowercase letters, digits and hyphens');
  oneCall<typeof nameJson, [string]>(io, command, {
    examples: ['name claim satoshi'],
    call: (sidecar, { args: [username] }) => sidecar.claimHumanBitcoinAddress({ username }),
    answer: nameJson,
    lines: nameLines,
  });
}
