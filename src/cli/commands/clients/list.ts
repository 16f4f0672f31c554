import type { Command } from 'commander';
import { z } from 'zod';
import { type ClientInfoJson, clientInfoJson } from '../../../model/client.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { withTable } from '../../terminal/show.ts';
import type { Column } from '../../terminal/table.ts';
import { minute } from '../../terminal/words.ts';
import { budgetWords } from './grant.ts';
import { grantWords } from './one-client.ts';

const clientsJson = z.object({ clients: z.record(z.string(), clientInfoJson()) });

const COLUMNS: readonly Column<ClientInfoJson>[] = [
  { title: 'Client', of: ({ client_pk }) => client_pk ?? '', least: 11, cut: 'middle' },
  { title: 'Label', of: ({ label }) => label ?? '', most: 30, least: 10 },
  { title: 'May', of: grantWords, least: 12 },
  { title: 'Budget', of: ({ budget }) => budgetWords(budget), least: 10, leaves: 3 },
  { title: 'Created', of: ({ created_at }) => minute(created_at), leaves: 1 },
  { title: 'Expires', of: ({ expires_at }) => minute(expires_at, 'never'), leaves: 2 },
];

/** Adds `clients list`, which shows the active clients and their grants. */
export function addClientsList(clients: Command, io: CliIo): void {
  const command = withTable(
    clients.command('list').description('List the clients that are neither revoked nor expired.'),
  );
  oneCall(io, command, {
    examples: ['clients list'],
    call: (sidecar) => sidecar.listClients(),
    answer: clientsJson,
    lines: (listed, _, { table }) => {
      const rows = Object.values(listed.clients);
      return rows.length === 0 ? ['No clients.'] : table(COLUMNS, rows);
    },
  });
}
