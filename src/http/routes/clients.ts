import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { budgetInput } from '../../model/clients/budget.ts';
import {
  approveAboveInput,
  clientInfoJson,
  effectivePermissionsField,
  labelInput,
  ownInput,
  permissionsInput,
  scopesInput,
} from '../../model/clients/client.ts';
import { nwcInput } from '../../model/clients/nwc.ts';
import { originsInput } from '../../model/clients/origins.ts';
import { effectivePermissions } from '../../model/clients/permissions.ts';
import { addition, hexInput, hexOutput, optionalAddition, timestamp } from '../../model/text.ts';
import type { ClientUpdate } from '../../wallet/clients/client-family.ts';
import {
  clientInfo,
  createClient,
  listClients,
  revokeClient,
  updateClient,
} from '../../wallet/clients/clients.ts';
import { any, excludes, filled, given, implies, withRules } from '../body-rules.ts';
import { exampleClient, exampleCredentials } from '../examples.ts';
import { get, post, put } from '../route.ts';

/** The start of the year 2100, for examples. */
const TIME_TO_COME = 4_102_444_800_000;

const clientPkInput = once(() => hexInput(32).describe("The client's public key."));

const GRANT = any(filled('scopes'), filled('permissions'));
const NO_GRANT = 'the grant must hold at least one scope or permission';

const updateClientBody = once(() =>
  withRules(
    // A misspelled limit would be no limit, so unknown fields are rejected (docs/decisions.md 18).
    z.strictObject({
      client_pk: clientPkInput(),
      label: labelInput().optional().describe('New label; not with `clear_label`.'),
      clear_label: z.boolean().default(false).describe('Removes the label.'),
      expires_at: timestamp()
        .optional()
        .meta({
          description: 'New expiry, a future time in milliseconds; not with `clear_expiration`.',
          examples: [TIME_TO_COME],
        }),
      clear_expiration: z.boolean().default(false).describe('Makes the client never expire.'),
      scopes: scopesInput().optional().describe('Replaces the granted ones.'),
      permissions: permissionsInput().optional().describe('Replaces the granted ones.'),
      budget: optionalAddition(budgetInput(), 'Replaces the present one; not with `clear_budget`.'),
      clear_budget: z.boolean().default(false).meta(addition('Removes the budget.')),
      approve_above: approveAboveInput().optional(),
      clear_approve_above: z.boolean().default(false).meta(addition('Removes `approve_above`.')),
      origins: originsInput().optional(),
      clear_origins: z.boolean().default(false).meta(addition('Lets `fetch` ask any origin.')),
      own: ownInput().optional(),
    }),
    setAndCleared('label', 'clear_label'),
    setAndCleared('expires_at', 'clear_expiration'),
    setAndCleared('budget', 'clear_budget'),
    setAndCleared('approve_above', 'clear_approve_above'),
    setAndCleared('origins', 'clear_origins'),
    [implies(any(given('scopes'), given('permissions')), GRANT), 'scopes', NO_GRANT],
  ),
);

function setAndCleared(name: string, flag: string) {
  return [excludes(name, flag), flag, `conflicts with ${name}: give one of them`] as const;
}

const clientAnswer = once(() => z.object({ client: clientInfoJson() }));

const createdClient = once(() =>
  z.object({
    client_pk: hexOutput(32).describe('Public key of the client.'),
    client_credentials: z
      .string()
      .describe('The secret: send it as `Authorization: Bearer`. Shown only now.'),
    created_at: timestamp().describe('When it was created, in milliseconds.'),
    effective_permissions: effectivePermissionsField(),
    nwc_uri: optionalAddition(z.string(), 'URI for the paired app. Shown only now.'),
  }),
);

/** Routes for clients and their credentials. */
export const clientRoutes = [
  get('/v2/node/client_info', 'clients', {
    isTool: true,
    access: 'authenticated',
    specified: true,
    summary: 'Read the identity and grant of the current credentials',
    response: () =>
      clientInfoJson().extend({
        kind: z
          .enum(['client_credentials', 'root_seed'])
          .describe('The kind of credentials of the caller.'),
      }),
    example: { response: { ...exampleClient, kind: 'client_credentials' } },
    handler: ({ session }) => clientInfo(session),
  }),
  get('/v2/node/list_clients', 'clients', {
    access: 'list_clients',
    specified: true,
    summary: 'List active clients',
    response: () => ({
      clients: z
        .record(hexOutput(32), clientInfoJson())
        .describe('The clients, by their public keys in hex.'),
    }),
    errors: ['unsupported'],
    example: { response: { clients: { [exampleClient.client_pk]: exampleClient } } },
    handler: async ({ session }) => ({ clients: await listClients(session) }),
  }),
  post('/v2/node/create_client', 'clients', {
    access: 'create_client',
    specified: true,
    summary: 'Create client credentials',
    description: 'The credentials are shown once. The grant must hold a scope or permission.',
    body: () =>
      withRules(
        z.strictObject({
          expires_at: timestamp()
            .optional()
            .meta({
              description:
                'When the client expires, a future time in milliseconds; without it never.',
              examples: [TIME_TO_COME],
            }),
          label: labelInput().optional(),
          scopes: scopesInput(),
          permissions: permissionsInput().optional(),
          budget: optionalAddition(budgetInput(), 'What the client may spend.'),
          approve_above: approveAboveInput().optional(),
          origins: originsInput().optional(),
          own: ownInput().optional(),
          nwc: nwcInput().optional(),
        }),
        [GRANT, 'scopes', NO_GRANT],
      ),
    response: createdClient,
    errors: ['unsupported'],
    example: {
      body: { label: 'Shop', scopes: ['read_info'] },
      response: {
        client_pk: exampleClient.client_pk,
        client_credentials: exampleCredentials,
        created_at: exampleClient.created_at,
        effective_permissions: exampleClient.effective_permissions,
      },
    },
    secretOf: (answer) => createdClient().parse(answer).client_pk,
    handler: async ({ session, names, parts: { nwc } }, { body }) => {
      const terms = body.nwc && nwc.termsFor(body.nwc);
      const request = {
        scopes: body.scopes,
        permissions: body.permissions ?? [],
        expiresAtMs: body.expires_at ?? null,
        label: body.label ?? null,
        budget: body.budget ?? null,
        approveAboveMsat: body.approve_above ?? null,
        origins: body.origins ?? null,
        ...(body.own === undefined ? {} : { own: body.own }),
      };
      const { client, credentials } = await createClient(session, request, names);
      return {
        client_pk: client.clientPk,
        client_credentials: credentials,
        created_at: client.createdAtMs,
        effective_permissions: effectivePermissions(client.scopes, client.permissions),
        ...(terms && (await nwc.pair(credentials, terms))),
      };
    },
  }),
  put('/v2/node/update_client', 'clients', {
    access: 'update_client',
    specified: true,
    summary: 'Change the label, expiry or grant of a client',
    description:
      'Fields left out do not change. `scopes` and `permissions` replace the whole grant: without one of them it is empty.',
    body: updateClientBody,
    response: clientAnswer,
    errors: ['notFound', 'unsupported'],
    example: {
      body: { client_pk: exampleClient.client_pk, label: 'Shop' },
      response: { client: exampleClient },
    },
    handler: async ({ session, parts }, { body }) => ({
      client: await updateClient(session, body.client_pk, changeOf(body)).finally(
        parts.nwc.changed,
      ),
    }),
  }),
  post('/v2/node/revoke_client', 'clients', {
    access: 'revoke_client',
    specified: true,
    summary: 'Revoke a client for ever',
    body: () => ({ client_pk: clientPkInput() }),
    response: clientAnswer,
    errors: ['notFound', 'unsupported'],
    example: {
      body: { client_pk: exampleClient.client_pk },
      response: { client: exampleClient },
    },
    handler: async ({ session, names, parts }, { body }) => ({
      client: await revokeClient(session, body.client_pk, names).finally(parts.nwc.changed),
    }),
  }),
];

function changeOf(body: z.output<ReturnType<typeof updateClientBody>>): ClientUpdate {
  const { scopes, permissions } = body;
  const isGranted = scopes !== undefined || permissions !== undefined;
  return {
    label: body.clear_label ? null : body.label,
    expiresAtMs: body.clear_expiration ? null : body.expires_at,
    grant: isGranted ? { scopes: scopes ?? [], permissions: permissions ?? [] } : undefined,
    budget: body.clear_budget ? null : body.budget,
    approveAboveMsat: body.clear_approve_above ? null : body.approve_above,
    origins: body.clear_origins ? null : body.origins,
    own: body.own,
  };
}
