import type { Command } from 'commander';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import { readClientPk } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';
import { EXAMPLE_PK, oneClientJson } from './one-client.ts';

/** Adds `clients revoke`, which ends the credentials of a client. */
export function addClientsRevoke(clients: Command, io: CliIo): void {
  const command = clients
    .command('revoke')
    .description('Revoke a client immediately and for ever.')
    .argument('<client>', "the client's public key", readClientPk);
  withExamples(withConnection(command), `clients revoke ${EXAMPLE_PK}`).action(
    async (client: string, flags: ConnectionFlags) => {
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.revokeClient({ client_pk: client }),
        oneClientJson,
      );
      show(io, flags, answer, () => ['Revoked: its credentials work no longer.']);
    },
  );
}
