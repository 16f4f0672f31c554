import type { Command } from 'commander';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';
import { nameJson, nameLines } from './one-name.ts';

/** Adds `name show`, which shows the wallet's name. */
export function addNameShow(name: Command, io: CliIo): void {
  const command = name.command('show').description("Show the wallet's name.");
  withExamples(withConnection(command), 'name show').action(async (flags: ConnectionFlags) => {
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.humanBitcoinAddress(),
      nameJson,
    );
    show(io, flags, answer, nameLines);
  });
}
