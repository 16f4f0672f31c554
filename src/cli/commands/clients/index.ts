import type { Command } from 'commander';
import { z } from 'zod';
import { printable } from '../../../lib/printable.ts';
import { type ClientInfoJson, clientInfoJson } from '../../../model/clients/client.ts';
import { CallFailed } from '../../call-failed.ts';
import { argument, asking, flag, type Given, group } from '../../command.ts';
import { readClientPk } from '../../inputs.ts';
import { oneCall } from '../../one-call.ts';
import { wideFlag } from '../../options.ts';
import { show } from '../../terminal/show.ts';
import type { Column } from '../../terminal/table.ts';
import { minute } from '../../terminal/words.ts';
import { tellOutOfBudgets } from '../health.ts';
import { budgetWords, GRANT_WORDS, grantBody } from './grant.ts';
import { clientLines, grantWords } from './one-client.ts';

/** A client's public key for the examples of commands. */
const EXAMPLE_PK = '1f1f...';

const CLIENT = { client_pk: argument('<client>', "the client's public key", readClientPk) };

const oneClientJson = () => z.object({ client: clientInfoJson() });

const COLUMNS: readonly Column<ClientInfoJson>[] = [
  { title: 'Client', of: ({ client_pk }) => client_pk ?? '', least: 11, cut: 'middle' },
  { title: 'Label', of: ({ label }) => label ?? '', most: 30, least: 10 },
  { title: 'May', of: grantWords, least: 12 },
  { title: 'Budget', of: ({ budget }) => budgetWords(budget), least: 10, leaves: 3 },
  { title: 'Created', of: ({ created_at }) => minute(created_at), leaves: 1 },
  { title: 'Expires', of: ({ expires_at }) => minute(expires_at, 'never'), leaves: 2 },
];

const list = oneCall('list', {
  about: 'List the clients that are neither revoked nor expired.',
  words: { wide: wideFlag },
  examples: ['clients list'],
  call: (sidecar) => sidecar.listClients(),
  answer: () => z.object({ clients: z.record(z.string(), clientInfoJson()) }),
  lines: ({ clients }, _, { table }) => {
    const rows = Object.values(clients);
    return rows.length === 0 ? ['No clients.'] : table(COLUMNS, rows);
  },
});

const showClient = oneCall('show', {
  about: 'Show a client and what is left of its budget; without one, who is calling.',
  words: { client: argument('[client]', "the client's public key", readClientPk) },
  examples: ['clients show', `clients show ${EXAMPLE_PK}`],
  async call(sidecar, { client }) {
    if (client === undefined) return sidecar.clientInfo();
    const found = (await sidecar.listClients()).clients[client];
    if (found !== undefined) return found;
    throw new CallFailed('No active client has this public key: "clients list" shows them.');
  },
  answer: () => clientInfoJson().loose(),
  lines: clientLines,
});

const create = asking(
  'create',
  {
    about:
      'Create a client. Its credentials are printed once, to stdout, and cannot be read again.',
    words: GRANT_WORDS,
    examples: [
      'clients create --label shop --scope read_info,read_payments,receive > credentials',
      'clients create --scope send --budget 10000/day --max-payment 1000 --expires 30d',
    ],
  },
  async (given, { io, command, flags, ask }) => {
    const { scopes = [], permissions } = given;
    if (given.scopes === undefined && permissions === undefined) {
      command.error('the client has no scope or permission: give --scope');
    }
    const body = { ...grantBody(given, command), scopes };
    const answer = await ask(
      (sidecar) => sidecar.createClient(body),
      z.object({ client_pk: z.string(), client_credentials: z.string() }),
    );
    show(io, flags, answer, (created) => [printable(created.client_credentials)]);
    io.stderr(
      `Keep it secret: anyone who has it can use the wallet within the grant. To revoke it, run "wallet-sidecar clients revoke ${printable(answer.value.client_pk)}".`,
    );
    if (given.budget !== undefined) await tellOutOfBudgets({ io, ask });
  },
);

const UPDATE_WORDS = {
  ...CLIENT,
  ...GRANT_WORDS,
  clear_label: flag('--clear-label', 'remove the label'),
  clear_expiration: flag('--clear-expiration', 'let the client never expire'),
  clear_budget: flag('--clear-budget', 'remove the budget'),
};

const update = asking(
  'update',
  {
    about: 'Change a client. --scope and --permission together replace the whole grant.',
    words: UPDATE_WORDS,
    examples: [
      `clients update ${EXAMPLE_PK} --label "Shop 2" --clear-expiration`,
      `clients update ${EXAMPLE_PK} --scope read_info`,
    ],
  },
  async (given, { io, command, flags, ask }) => {
    const changes = changesOf(given, command);
    if (Object.values(changes).every((change) => change === undefined)) {
      command.error('say what to change, such as --label or --scope');
    }
    const { client_pk } = given;
    const answer = await ask(
      (sidecar) => sidecar.updateClient({ client_pk, ...changes }),
      oneClientJson(),
    );
    show(io, flags, answer, ({ client }) => clientLines(client));
    if (given.budget !== undefined) await tellOutOfBudgets({ io, ask });
  },
);

function changesOf(given: Given<typeof UPDATE_WORDS>, command: Command) {
  const { label, expires_at, budget, clear_label, clear_expiration, clear_budget } = given;
  const body = grantBody(given, command);
  const rejectBoth = (name: string, set: unknown, clear: true | undefined | boolean) => {
    if (set === undefined || clear === undefined) return;
    command.error(`${name} is set and cleared at once: give one of the two flags`);
  };
  rejectBoth('label', label, clear_label);
  rejectBoth('expires', expires_at, clear_expiration);
  rejectBoth('budget', budget, clear_budget);
  return { ...body, clear_label, clear_expiration, clear_budget };
}

const revoke = oneCall('revoke', {
  about: 'Revoke a client immediately and for ever.',
  words: CLIENT,
  examples: [`clients revoke ${EXAMPLE_PK}`],
  call: (sidecar, given) => sidecar.revokeClient(given),
  answer: oneClientJson,
  lines: () => ['Revoked: its credentials work no longer.'],
});

const prune = oneCall('prune', {
  about:
    "List the node's tokens that belong to no client, for example after the database was lost.",
  words: { remove: flag('--remove', 'end the listed tokens at the node') },
  examples: ['clients prune', 'clients prune --remove'],
  call: (sidecar, { remove = false }) => sidecar.pruneClients({ remove }),
  answer: () => z.object({ token_ids: z.array(z.string()), removed: z.boolean() }),
  lines: ({ token_ids: ids, removed }) => {
    if (ids.length === 0) return ['No tokens without a client.'];
    const what = removed ? 'Ended at the node:' : 'Without a client (end them with --remove):';
    return [what, ...ids.map(printable)];
  },
});

/** Lets clients with budgets spend again after a database was restored. */
const confirm = oneCall('confirm', {
  about: 'Confirm the budgets after the database was restored from an older copy.',
  examples: ['clients confirm'],
  call: (sidecar) => sidecar.confirmBudgets(),
  lines: () => ['Confirmed: clients with a budget can spend again.'],
});

/** Adds `clients`, the commands for the credentials of applications. */
export const addClients = group(
  'clients',
  {
    about: 'Credentials for applications.',
    examples: ['clients list', 'clients create --scope read_info,receive --label shop'],
  },
  [list, showClient, create, update, revoke, prune, confirm],
);
