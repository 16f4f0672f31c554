import type { Command } from 'commander';
import { z } from 'zod';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';

/** Adds `clients confirm`, which lets clients with budgets spend again after a database was restored. */
export function addClientsConfirm(clients: Command, io: CliIo): void {
  const command = clients
    .command('confirm')
    .description('Confirm the budgets after the database was restored from an older copy.');
  oneCall(io, command, {
    examples: ['clients confirm'],
    call: (sidecar) => sidecar.confirmBudgets(),
    answer: z.object({}),
    lines: () => ['Confirmed: clients with a budget can spend again.'],
  });
}
