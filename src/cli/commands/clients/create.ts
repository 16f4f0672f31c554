import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { printable } from '../../terminal/printable.ts';
import { show } from '../../terminal/show.ts';
import { type GrantFlags, grantBody, requireBudget, withGrant } from './grant.ts';

const createdClientJson = z.object({ client_pk: z.string(), client_credentials: z.string() });

/** Adds `clients create`, which creates credentials for an application. */
export function addClientsCreate(clients: Command, io: CliIo): void {
  const command = clients
    .command('create')
    .description(
      'Create a client. Its credentials are printed once, to stdout, and cannot be read again.',
    );
  withExamples(
    withConnection(withGrant(command)),
    'clients create --label shop --scope read_info,read_payments,receive > credentials',
    'clients create --scope send --budget 10000/day --max-payment 1000 --expires 30d',
  ).action(async (flags: ConnectionFlags & GrantFlags) => {
    if (flags.scope === undefined && flags.permission === undefined) {
      command.error('the client has no scope or permission: give --scope');
    }
    requireBudget(command, flags);
    const body = { ...grantBody(flags), scopes: flags.scope ?? [] };
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.createClient(body),
      createdClientJson,
    );
    show(io, flags, answer, (created) => [printable(created.client_credentials)]);
    io.stderr(
      `Keep it secret: anyone who has it can use the wallet within the grant. To revoke it, run "wallet-sidecar clients revoke ${printable(answer.value.client_pk)}".`,
    );
  });
}
