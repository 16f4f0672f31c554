import type { Command } from 'commander';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import { readClientPk } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';
import { type GrantFlags, grantBody, requireBudget, withGrant } from './grant.ts';
import { clientLines, EXAMPLE_PK, oneClientJson } from './one-client.ts';

interface UpdateFlags extends ConnectionFlags, GrantFlags {
  readonly clearLabel?: boolean;
  readonly clearExpiration?: boolean;
  readonly clearBudget?: boolean;
}

/** Adds `clients update`, which changes a client's label, expiry, grant or budget. */
export function addClientsUpdate(clients: Command, io: CliIo): void {
  const command = clients
    .command('update')
    .description('Change a client. --scope and --permission together replace the whole grant.')
    .argument('<client>', "the client's public key", readClientPk);
  withGrant(command)
    .option('--clear-label', 'remove the label')
    .option('--clear-expiration', 'let the client never expire')
    .option('--clear-budget', 'remove the budget');
  withExamples(
    withConnection(command),
    `clients update ${EXAMPLE_PK} --label "Shop 2" --clear-expiration`,
    `clients update ${EXAMPLE_PK} --scope read_info`,
  ).action(async (client: string, flags: UpdateFlags) => {
    requireBudget(command, flags);
    rejectBoth(command, flags, 'label', 'clearLabel');
    rejectBoth(command, flags, 'expires', 'clearExpiration');
    rejectBoth(command, flags, 'budget', 'clearBudget');
    const changes = {
      ...grantBody(flags),
      clear_label: flags.clearLabel,
      clear_expiration: flags.clearExpiration,
      clear_budget: flags.clearBudget,
    };
    if (Object.values(changes).every((change) => change === undefined)) {
      command.error('say what to change, such as --label or --scope');
    }
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.updateClient({ client_pk: client, ...changes }),
      oneClientJson,
    );
    show(io, flags, answer, (updated) => clientLines(updated.client));
  });
}

function rejectBoth(
  command: Command,
  flags: UpdateFlags,
  set: keyof UpdateFlags,
  clear: keyof UpdateFlags,
): void {
  if (flags[set] === undefined || flags[clear] === undefined) return;
  command.error(`${set} is set and cleared at once: give one of the two flags`);
}
