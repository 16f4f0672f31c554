import type { Command } from 'commander';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';
import { nameJson, nameLines } from './one-name.ts';

/** Adds `name claim`, which claims or changes the wallet's name. */
export function addNameClaim(name: Command, io: CliIo): void {
  const command = name
    .command('claim')
    .description('Claim or change the name. It can be changed for a day, and rests for 90 days.')
    .argument('<username>', 'the part before the @: 6 to 24 lowercase letters, digits and hyphens');
  withExamples(withConnection(command), 'name claim satoshi').action(
    async (username: string, flags: ConnectionFlags) => {
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.claimHumanBitcoinAddress({ username }),
        nameJson,
      );
      show(io, flags, answer, nameLines);
    },
  );
}
