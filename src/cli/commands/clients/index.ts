import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addClientsConfirm } from './confirm.ts';
import { addClientsCreate } from './create.ts';
import { addClientsList } from './list.ts';
import { addClientsPrune } from './prune.ts';
import { addClientsRevoke } from './revoke.ts';
import { addClientsShow } from './show.ts';
import { addClientsUpdate } from './update.ts';

/** Adds `clients`, the commands for the credentials of applications. */
export function addClients(parent: Command, io: CliIo): void {
  const clients = parent.command('clients').description('Credentials for applications.');
  withExamples(clients, 'clients list', 'clients create --scope read_info,receive --label shop');
  addClientsList(clients, io);
  addClientsShow(clients, io);
  addClientsCreate(clients, io);
  addClientsUpdate(clients, io);
  addClientsRevoke(clients, io);
  addClientsPrune(clients, io);
  addClientsConfirm(clients, io);
}
