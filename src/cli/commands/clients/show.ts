import type { Command } from 'commander';
import { clientInfoJson } from '../../../model/client.ts';
import { CallFailed } from '../../call-failed.ts';
import { readClientPk } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { clientLines, EXAMPLE_PK } from './one-client.ts';

/** Adds `clients show`, which shows one client and what is left of its budget; without a client, the caller itself. */
export function addClientsShow(clients: Command, io: CliIo): void {
  const command = clients
    .command('show')
    .description('Show a client and what is left of its budget; without one, who is calling.')
    .argument('[client]', "the client's public key", readClientPk);
  oneCall<ReturnType<typeof clientInfoJson>, [string | undefined]>(io, command, {
    examples: ['clients show', `clients show ${EXAMPLE_PK}`],
    async call(sidecar, { args: [client] }) {
      if (client === undefined) return sidecar.clientInfo();
      const found = (await sidecar.listClients()).clients[client];
      if (found !== undefined) return found;
      throw new CallFailed('No active client has this public key: "clients list" shows them.');
    },
    answer: clientInfoJson().loose(),
    lines: clientLines,
  });
}
