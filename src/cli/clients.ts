import type { Command } from 'commander';
import { z } from 'zod';
import { type ClientInfoJson, clientInfoJson } from '../model/client.ts';
import {
  budgetWords,
  type GrantFlags,
  grantBody,
  requireBudget,
  withGrant,
} from './client-grant.ts';
import { type ConnectionFlags, withConnection } from './connection.ts';
import { withExamples } from './examples.ts';
import { sidecarClient } from './http-client.ts';
import { readClientPk } from './inputs.ts';
import type { CliIo } from './io.ts';
import { printable } from './printable.ts';
import { show } from './show.ts';
import { type Column, fields, table } from './table.ts';
import { moment } from './words.ts';

const EXAMPLE_PK = '1f1f...';

const createdClientJson = z.object({ client_pk: z.string(), client_credentials: z.string() });
const clientsJson = z.object({ clients: z.record(z.string(), clientInfoJson) });
const prunedJson = z.object({ token_ids: z.array(z.string()), removed: z.boolean() });
const oneClientJson = z.object({ client: clientInfoJson });

/** `clients`: the credentials that applications are given. */
export function addClients(parent: Command, io: CliIo): void {
  const clients = parent.command('clients').description('Credentials for applications.');
  withExamples(clients, 'clients list', 'clients create --scope read_info,receive --label shop');
  addList(clients, io);
  addCreate(clients, io);
  addUpdate(clients, io);
  addRevoke(clients, io);
  addPrune(clients, io);
  addConfirm(clients, io);
}

const COLUMNS: readonly Column<ClientInfoJson>[] = [
  { title: 'Client', of: ({ client_pk }) => client_pk ?? '' },
  { title: 'Label', of: ({ label }) => label ?? '', most: 30 },
  { title: 'May', of: grantWords },
  { title: 'Budget', of: ({ budget }) => budgetWords(budget) },
  { title: 'Created (UTC)', of: ({ created_at }) => moment(created_at) },
  { title: 'Expires (UTC)', of: ({ expires_at }) => moment(expires_at, 'never') },
];

function addList(clients: Command, io: CliIo): void {
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

function addCreate(clients: Command, io: CliIo): void {
  const command = clients
    .command('create')
    .description('Create credentials. They are printed once, to stdout, and cannot be read again.');
  withExamples(
    withConnection(withGrant(command)),
    'clients create --label shop --scope read_info,read_payments,receive > credentials',
    'clients create --scope send --budget 10000/day --max-payment 1000 --expires 30d',
  ).action(async (flags: ConnectionFlags & GrantFlags) => {
    if (flags.scope === undefined && flags.permission === undefined) {
      command.error('a client needs something that it may do: give --scope');
    }
    requireBudget(command, flags);
    const body = { ...grantBody(flags), scopes: flags.scope ?? [] };
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.createClient(body),
      createdClientJson,
    );
    show(io, flags, answer, (created) => [printable(created.client_credentials)]);
    io.stderr(
      `Keep it secret: whoever has it can use the wallet within what it was granted. Take it back with "wallet-sidecar clients revoke ${printable(answer.value.client_pk)}".`,
    );
  });
}

interface UpdateFlags extends ConnectionFlags, GrantFlags {
  readonly clearLabel?: boolean;
  readonly clearExpiration?: boolean;
  readonly clearBudget?: boolean;
}

function addUpdate(clients: Command, io: CliIo): void {
  const command = clients
    .command('update')
    .description(
      'Change a client. --scope and --permission together replace all that it was granted.',
    )
    .argument('<client>', "the client's public key", readClientPk);
  withGrant(command)
    .option('--clear-label', 'remove the label')
    .option('--clear-expiration', 'let it never expire')
    .option('--clear-budget', 'remove the budget');
  withExamples(
    withConnection(command),
    `clients update ${EXAMPLE_PK} --label "Shop 2" --clear-expiration`,
    `clients update ${EXAMPLE_PK} --scope read_info`,
  ).action(async (client: string, flags: UpdateFlags) => {
    requireBudget(command, flags);
    refuseBoth(command, flags, 'label', 'clearLabel');
    refuseBoth(command, flags, 'expires', 'clearExpiration');
    refuseBoth(command, flags, 'budget', 'clearBudget');
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

function addRevoke(clients: Command, io: CliIo): void {
  const command = clients
    .command('revoke')
    .description('Revoke a client for ever, at once.')
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

function addPrune(clients: Command, io: CliIo): void {
  const command = clients
    .command('prune')
    .description(
      "List the node's tokens that belong to no client any more, as a lost database leaves them.",
    )
    .option('--remove', 'end them at the node');
  withExamples(withConnection(command), 'clients prune', 'clients prune --remove').action(
    async (flags: ConnectionFlags & { readonly remove?: boolean }) => {
      const remove = flags.remove === true;
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.pruneClients({ remove }),
        prunedJson,
      );
      show(io, flags, answer, ({ token_ids: ids }) => {
        if (ids.length === 0) return ['No tokens without a client.'];
        const next = remove ? 'Ended at the node:' : 'Without a client (end them with --remove):';
        return [next, ...ids];
      });
    },
  );
}

function addConfirm(clients: Command, io: CliIo): void {
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

function clientLines(client: ClientInfoJson): string[] {
  return fields({
    Client: client.client_pk,
    Label: client.label,
    May: grantWords(client),
    Budget: client.budget === null ? null : budgetWords(client.budget),
    Created: client.created_at === null ? null : moment(client.created_at),
    Expires: moment(client.expires_at, 'never'),
  });
}

function grantWords({ scopes, permissions }: ClientInfoJson): string {
  return [...scopes, ...permissions].join(', ');
}

function refuseBoth(
  command: Command,
  flags: UpdateFlags,
  set: keyof UpdateFlags,
  clear: keyof UpdateFlags,
): void {
  if (flags[set] === undefined || flags[clear] === undefined) return;
  command.error(`setting and clearing the same (${set}) contradict each other: give one of them`);
}
