import type { Command } from 'commander';
import { readClientPk } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { EXAMPLE_PK, oneClientJson } from './one-client.ts';

/** Adds `clients revoke`, which ends the credentials of a client. */
export function addClientsRevoke(clients: Command, io: CliIo): void {
  const command = clients
    .command('revoke')
    .description('Revoke a client immediately and for ever.')
    .argument('<client>', "the client's public key", readClientPk);
  oneCall<typeof oneClientJson, [string]>(io, command, {
    examples: [`clients revoke ${EXAMPLE_PK}`],
    call: (sidecar, { args: [client_pk] }) => sidecar.revokeClient({ client_pk }),
    answer: oneClientJson,
    lines: () => ['Revoked: its credentials work no longer.'],
  });
}
