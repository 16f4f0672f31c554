import type { Command } from 'commander';
import { z } from 'zod';
import { type ClientInfoJson, clientInfoJson } from '../../../model/client.ts';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';
import { type Column, table } from '../../terminal/table.ts';
import { moment } from '../../terminal/words.ts';
import { budgetWords } from './grant.ts';
import { grantWords } from './one-client.ts';

const clientsJson = z.object({ clients: z.record(z.string(), clientInfoJson) });

const COLUMNS: readonly Column<ClientInfoJson>[] = [
  { title: 'Client', of: ({ client_pk }) => client_pk ?? '' },
  { title: 'Label', of: ({ label }) => label ?? '', most: 30 },
  { title: 'May', of: grantWords },
  { title: 'Budget', of: ({ budget }) => budgetWords(budget) },
  { title: 'Created (UTC)', of: ({ created_at }) => moment(created_at) },
  { title: 'Expires (UTC)', of: ({ expires_at }) => moment(expires_at, 'never') },
];

/** Adds `clients list`, which shows the active clients and their grants. */
export function addClientsList(clients: Command, io: CliIo): void {
  const command = clients
    .command('list')
    .description('List the clients that are neither revoked nor expired.');
  withExamples(withConnection(command), 'clients list').action(async (flags: ConnectionFlags) => {
    const ask = sidecarClient(io, flags);
    const answer = await ask((sidecar) => sidecar.listClients(), clientsJson);
    show(io, flags, answer, (listed) => {
      const rows = Object.values(listed.clients);
      return rows.length === 0 ? ['No clients.'] : table(COLUMNS, rows);
    });
  });
}
