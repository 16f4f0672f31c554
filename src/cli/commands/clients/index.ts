import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { ClientInfo, WalletSidecar } from '../../../client/index.ts';
import { printable } from '../../../lib/printable.ts';
import { type ClientInfoJson, clientInfoJson } from '../../../model/clients/client.ts';
import { parseWalletAuth, type WalletAuth } from '../../../model/clients/wallet-auth.ts';
import { hexInput } from '../../../model/text.ts';
import { CallFailed } from '../../call-failed.ts';
import { argument, asking, type Finding, flag, type Given, group } from '../../command.ts';
import { readName } from '../../inputs.ts';
import { namesId, theOne } from '../../naming.ts';
import { oneCall } from '../../one-call.ts';
import { wideFlag } from '../../options.ts';
import { show } from '../../terminal/show.ts';
import type { Column } from '../../terminal/table.ts';
import { minute, sats } from '../../terminal/words.ts';
import { tellOutOfBudgets } from '../health.ts';
import {
  budgetWords,
  CHANGE_WORDS,
  changedBudget,
  GRANT_WORDS,
  grantProblem,
  originWords,
  tellOfLimits,
} from './grant.ts';
import { clientLines, grantWords } from './one-client.ts';

const EXAMPLE = 'shop';

const oneClientJson = () => z.object({ client: clientInfoJson() });
const clientsJson = () => z.object({ clients: z.record(z.string(), clientInfoJson()) });

const ABOUT_CLIENT =
  "the client: its label, its public key, or at least 4 of the key's first or last characters";
const CLIENT = {
  client_pk: { ...argument('<client>', ABOUT_CLIENT, readName), find: findClient },
};

const COLUMNS: readonly Column<ClientInfoJson>[] = [
  { title: 'Client', of: ({ client_pk }) => client_pk ?? '', least: 11, cut: 'middle' },
  { title: 'Label', of: ({ label }) => label ?? '', most: 30, least: 10 },
  { title: 'May', of: grantWords, least: 12 },
  { title: 'Sees', of: ({ own }) => (own ? 'its own' : ''), leaves: 3, isOptional: true },
  { title: 'Budget', of: ({ budget }) => budgetWords(budget), least: 10, leaves: 3 },
  {
    title: 'Waits above',
    of: ({ approve_above }) => (approve_above === null ? '' : sats(approve_above)),
    leaves: 0,
    isOptional: true,
  },
  {
    title: 'Fetches from',
    of: ({ origins }) => originWords(origins),
    most: 40,
    leaves: 0,
    isOptional: true,
  },
  { title: 'Created', of: ({ created_at }) => minute(created_at), leaves: 1 },
  { title: 'Expires', of: ({ expires_at }) => minute(expires_at, 'never'), leaves: 2 },
];

const list = oneCall('list', {
  about: 'List the clients that are neither revoked nor expired.',
  words: { wide: wideFlag },
  examples: ['clients list'],
  call: (sidecar) => sidecar.listClients(),
  answer: clientsJson,
  lines: ({ clients }, _, { table }) => {
    const rows = Object.values(clients);
    return rows.length === 0 ? ['No clients.'] : table(COLUMNS, rows);
  },
});

const showClient = oneCall('show', {
  about: 'Show a client and what is left of its budget; without one, who is calling.',
  words: { client: { ...argument('[client]', ABOUT_CLIENT, readName), find: findClient } },
  examples: ['clients show', `clients show ${EXAMPLE}`],
  async call(sidecar, { client }) {
    return client === undefined ? sidecar.clientInfo() : activeClient(sidecar, client);
  },
  answer: () => clientInfoJson().loose(),
  lines: clientLines,
});

const NWC_WORDS = {
  nwc: flag('--nwc', 'pair it with an application: print the URI of Nostr Wallet Connect'),
  relay: flag(
    '--relay <url>',
    'relay of the pairing in place of those of --nwc-relay, such as wss://relay.example; repeatable',
    (text: string, before: readonly string[] = []) => [...before, text],
  ),
  nwc_app: flag(
    '--nwc-app <uri>',
    'pair it with the application that shows this nostr+walletauth URI; without --scope, say what it asks for',
    readWalletAuth,
  ),
};

const NO_GRANT = 'the client has no scope or permission: give --scope';

function pairingProblem({ nwc, relay, nwc_app }: Given<typeof NWC_WORDS>): string | null {
  if (nwc_app)
    return nwc || relay ? '--nwc-app names the relay: leave --nwc and --relay out' : null;
  return relay && !nwc ? '--relay is for a pairing: give --nwc too' : null;
}

function readWalletAuth(text: string): WalletAuth {
  const read = parseWalletAuth(text);
  if ('value' in read) return read.value;
  throw new InvalidArgumentError(`It ${read.problem}`);
}

/** Says which flags would grant what an application asks for: the owner chooses, and not the URI. */
function askedBy({ scopes, budget, expiresAtMs, own }: WalletAuth): string {
  const flags = [
    `--scope ${scopes.join()}`,
    ...(budget ? [`--budget ${budget.sats}/${budget.period}`] : []),
    ...(expiresAtMs === null ? [] : [`--expires ${new Date(expiresAtMs).toISOString()}`]),
    ...(own ? ['--own'] : []),
  ];
  return `nothing is granted yet. The application asks for ${flags.join(' ')}: give that, or less`;
}

const create = asking(
  'create',
  {
    about:
      'Create a client. Its credentials are printed once, to stdout, and cannot be read again.',
    words: { ...GRANT_WORDS, ...NWC_WORDS },
    examples: [
      'clients create --label shop --scope read_info,read_payments,receive > credentials',
      'clients create --label "Till 1" --scope read_payments,receive --own > credentials',
      'clients create --scope send --budget 10000/day --max-payment 1000 --expires 30d',
      'clients create --scope receive,send --budget 10000/day --nwc --relay wss://relay.example',
      'clients create --nwc-app "nostr+walletauth://..."',
    ],
    check: (given) =>
      given.scopes === undefined && given.permissions === undefined
        ? given.nwc_app
          ? askedBy(given.nwc_app)
          : NO_GRANT
        : (grantProblem(given) ?? pairingProblem(given)),
  },
  async (given, { io, flags, ask }) => {
    const { scopes = [], budget, max_payment, nwc, relay: relays, nwc_app: auth, ...rest } = given;
    const limit = budget && { ...budget, max_payment };
    const pairing = auth ? { relays: auth.relays, app: auth.app } : nwc ? { relays } : undefined;
    const body = { ...rest, scopes, budget: limit, nwc: pairing };
    const answer = await ask(
      (sidecar) => sidecar.createClient(body),
      z.object({
        client_pk: z.string(),
        client_credentials: z.string(),
        nwc_uri: z.string().optional(),
      }),
    );
    show(io, flags, answer, ({ nwc_uri, client_pk, client_credentials }) => [
      printable(auth ? client_pk : (nwc_uri ?? client_credentials)),
    ]);
    if (auth) {
      io.stderr('Paired: the application finds the wallet at its relay, within the grant.');
      return;
    }
    io.stderr(
      `Keep it secret: anyone who has it can use the wallet within the grant. To revoke it, run "wallet-sidecar clients revoke ${printable(answer.value.client_pk)}".`,
    );
    if (budget !== undefined) await tellOutOfBudgets({ io, ask });
    tellOfLimits(given, io);
  },
);

const UPDATE_WORDS = {
  ...CLIENT,
  ...CHANGE_WORDS,
  clear_label: flag('--clear-label', 'remove the label'),
  clear_expiration: flag('--clear-expiration', 'let the client never expire'),
  clear_budget: flag('--clear-budget', 'remove the budget'),
  clear_approve_above: flag('--clear-approve-above', 'let payments go without approval'),
  clear_origins: flag('--clear-origins', 'let "fetch" ask any origin'),
};

const update = asking(
  'update',
  {
    about: 'Change a client. --scope and --permission together replace the whole grant.',
    words: UPDATE_WORDS,
    examples: [
      `clients update ${EXAMPLE} --label "Shop 2" --clear-expiration`,
      `clients update ${EXAMPLE} --scope read_info`,
      `clients update ${EXAMPLE} --budget 20000/day`,
    ],
    check: updateProblem,
  },
  async ({ max_payment, ...given }, { io, flags, ask }) => {
    const { client_pk } = given;
    const clientNow = async () =>
      (await ask((sidecar) => activeClient(sidecar, client_pk), clientInfoJson())).value;
    const budget = await changedBudget({ budget: given.budget, max_payment }, io, clientNow);
    const answer = await ask(
      (sidecar) => sidecar.updateClient({ ...given, budget }),
      oneClientJson(),
    );
    show(io, flags, answer, ({ client }) => clientLines(client));
    if (budget !== undefined) await tellOutOfBudgets({ io, ask });
    tellOfLimits(given, io);
  },
);

function updateProblem({ client_pk: _, ...changes }: Given<typeof UPDATE_WORDS>): string | null {
  const { label, expires_at, budget, max_payment, approve_above, origins } = changes;
  const { clear_label, clear_expiration, clear_budget, clear_approve_above, clear_origins } =
    changes;
  if (Object.values(changes).every((change) => change === undefined)) {
    return 'say what to change, such as --label or --scope';
  }
  const pairs = [
    ['label', label, clear_label],
    ['expires', expires_at, clear_expiration],
    ['budget', budget ?? max_payment, clear_budget],
    ['approve-above', approve_above, clear_approve_above],
    ['origin', origins, clear_origins],
  ] as const;
  const both = pairs.find(([, set, clear]) => set !== undefined && clear !== undefined);
  if (both === undefined) return null;
  return `${both[0]} is set and cleared at once: give one of the two flags`;
}

const revoke = oneCall('revoke', {
  about: 'Revoke a client immediately and for ever.',
  words: CLIENT,
  examples: [`clients revoke ${EXAMPLE}`],
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

const confirm = oneCall('confirm', {
  about: 'Confirm the budgets after the database was restored from an older copy.',
  examples: ['clients confirm'],
  call: (sidecar) => sidecar.confirmBudgets(),
  lines: () => ['Confirmed: clients with a budget can spend again.'],
});

async function activeClient(sidecar: WalletSidecar, client: string): Promise<ClientInfo> {
  const found = (await sidecar.listClients()).clients[client];
  if (found !== undefined) return found;
  throw new CallFailed('No active client has this public key: "clients list" shows them.');
}

/** Returns the public key of an active client that a person named. A whole key needs no look. */
export async function findClient(typed: string, { io, ask }: Finding): Promise<string> {
  const whole = hexInput(32).safeParse(typed);
  if (whole.success) return whole.data;
  const { value } = await ask((sidecar) => sidecar.listClients(), clientsJson());
  const fitting = Object.entries(value.clients).filter(
    ([pk, { label }]) => label === typed || namesId(typed, pk),
  );
  const [pk] = theOne(io, fitting, {
    columns: COLUMNS.map((column) => ({ ...column, of: ([, client]) => column.of(client) })),
    none: `No active client has the label or key ${JSON.stringify(typed)}: "clients list" shows them.`,
    typed,
  });
  return pk;
}

/** Adds `clients`, the commands for the credentials of applications. */
export const addClients = group(
  'clients',
  {
    about: 'Credentials for applications.',
    examples: ['clients list', 'clients create --scope read_info,receive --label shop'],
  },
  [list, showClient, create, update, revoke],
  [prune, confirm],
);
