import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';

/** Adds `clients confirm`, which lets clients with budgets spend again after a database was restored. */
export function addClientsConfirm(clients: Command, io: CliIo): void {
  const command = clients
    .command('confirm')
    .description('Confirm the budgets after the database was restored from an older copy.');
  withExamples(withConnection(command), 'clients confirm').action(
    async (flags: ConnectionFlags) => {
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.confirmBudgets(),
        z.object({}),
      );
      show(io, flags, answer, () => ['Confirmed: clients with a budget can spend again.']);
    },
  );
}
