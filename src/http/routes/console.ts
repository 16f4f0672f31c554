import { z } from 'zod';
import { hexInput, hexOutput, timestamp } from '../../model/text.ts';
import { requireActiveClient } from '../../wallet/clients/clients.ts';
import { ABILITY_NAMES, nodeFacts } from '../../wallet/open/node-facts.ts';
import { FEED_STATES } from '../../wallet/session/feed-standing.ts';
import { type ConsoleFile, consoleFiles, PAGE, SIGNED_IN_PAGE } from '../console/files.ts';
import { DEVICE_LINK_MS, LINK_MS } from '../console/one-time-links.ts';
import { signInOrigin } from '../console/page-origin.ts';
import { exampleClient } from '../examples.ts';
import { emptyJson, get, post, type Route } from '../route.ts';

const exampleToken = '7c1e0a5b39f2d84c6e1f0b7a92d35c48e0f1a6b3c7d9285e4f60718293a4b5c6';
const exampleWallet = '6bf29818f7c62f7813194a38c4cd3295c207ec691c9b01f8b68e1c5b77ddb3f6';
/** Returns the routes of the console: its page, made of `files`, and how a browser signs in. */
export function consoleRoutes(files: readonly ConsoleFile[]): readonly Route[] {
  return [...signInRoutes, ...pageRoutes(files)];
}

const signInRoutes = [
  get('/v2/console/about', 'console', {
    access: 'authenticated',
    summary: 'Read what this sidecar and the node of the caller can do',
    response: () => ({
      version: z.string().describe('The version of the sidecar.'),
      node_kind: z.string().describe('The kind of the node, such as `sandbox`.'),
      network: z
        .string()
        .describe('The Bitcoin network of the node, such as `bitcoin` or `regtest`.'),
      abilities: z
        .array(z.enum(ABILITY_NAMES))
        .describe('What this node can do that others cannot.'),
      feed: z
        .object({
          state: z.enum(FEED_STATES).describe('How the changes of the node are followed now.'),
          since: timestamp().describe('Since when, in milliseconds.'),
        })
        .nullable()
        .describe('Null while nothing asks for changes of the wallet.'),
      user_pk: hexOutput(32).describe('The wallet.'),
      caller: z
        .string()
        .describe('The caller, to whom Idempotency-Keys belong: a client_pk, or `owner`.'),
      owner: z.boolean().describe("Whether the caller is the wallet's owner."),
      budgets_confirmed: z
        .boolean()
        .describe(
          'False while clients with a budget cannot spend, until the owner confirms the budgets.',
        ),
      rates: z.boolean().describe('Whether it knows rates of currencies.'),
      sandbox: z.boolean().describe('Whether the controls of the sandbox are there.'),
    }),
    example: {
      response: {
        version: '0.2.0',
        node_kind: 'sandbox',
        network: 'regtest',
        abilities: ['offers', 'onchain', 'channels', 'clients'],
        feed: { state: 'caught_up', since: 1764000000000 },
        user_pk: exampleWallet,
        caller: 'owner',
        owner: true,
        budgets_confirmed: true,
        rates: false,
        sandbox: true,
      },
    },
    handler: async ({ parts, session }) => {
      const { kind, network, abilities, feed, areBudgetsConfirmed } = nodeFacts(session);
      return {
        version: parts.version,
        node_kind: kind,
        network,
        abilities: [...abilities],
        feed: feed && { state: feed.state, since: feed.sinceMs },
        user_pk: session.userPk,
        caller: session.caller.id,
        owner: session.isOwner,
        budgets_confirmed: areBudgetsConfirmed,
        rates: parts.services.rates !== null,
        sandbox: parts.sandbox !== null,
      };
    },
  }),
  post('/v2/console/link', 'console', {
    access: 'authenticated',
    summary: 'Make a one-time link by which a browser signs in to the console',
    description:
      'The link is `/console#link=` and the token. It signs in one browser, once, as the caller. The part after `#` is sent to no server and stands in no log.',
    body: () => ({}),
    response: () => ({
      token: hexOutput(32).describe('The token of the link.'),
      expires_in_secs: z.int().describe('The link is good for this many seconds.'),
      user_pk: hexOutput(32).describe('The wallet that it opens.'),
    }),
    example: {
      body: {},
      response: { token: exampleToken, expires_in_secs: 60, user_pk: exampleWallet },
    },
    handler: async ({ parts, headers, session }) => ({
      token: parts.console.makeLink(headers, session),
      expires_in_secs: LINK_MS / 1000,
      user_pk: session.userPk,
    }),
  }),
  post('/v2/console/device_link', 'console', {
    access: 'owner',
    summary: 'Make a one-time link by which a device signs in as a client and stays signed in',
    description:
      'The link is `/console#link=` and the token. Its browser stays signed in for 30 days.',
    body: () => ({ client_pk: hexInput(32).describe("The client's public key.") }),
    response: () => ({
      token: hexOutput(32).describe('The token of the link.'),
      expires_in_secs: z.int().describe('The link is good for this many seconds.'),
    }),
    errors: ['notFound'],
    example: {
      body: { client_pk: exampleClient.client_pk },
      response: { token: exampleToken, expires_in_secs: 600 },
    },
    handler: async ({ parts, session }, { body }) => {
      await requireActiveClient(session, body.client_pk);
      const token = parts.console.makeDeviceLink(body.client_pk);
      return { token, expires_in_secs: DEVICE_LINK_MS / 1000 };
    },
  }),
  get('/v2/console/devices', 'console', {
    access: 'owner',
    summary: 'List the devices that are signed in as clients',
    response: () => ({
      devices: z
        .array(
          z.object({
            id: hexOutput(32).describe('The device.'),
            client_pk: hexOutput(32).describe('The client.'),
            created_at: timestamp().describe('When it signed in, in milliseconds.'),
            used_at: timestamp().describe('When it was used last, to the hour.'),
          }),
        )
        .describe('The devices, those that were used last first.'),
    }),
    example: {
      response: {
        devices: [
          {
            id: exampleToken,
            client_pk: exampleClient.client_pk,
            created_at: 1764000000000,
            used_at: 1764003600000,
          },
        ],
      },
    },
    handler: async ({ parts, session }) => ({
      devices: (await parts.console.devices.list(session.userPk)).map((one) => ({
        id: one.id,
        client_pk: one.clientPk,
        created_at: one.createdAtMs,
        used_at: one.usedAtMs,
      })),
    }),
  }),
  post('/v2/console/end_device', 'console', {
    access: 'owner',
    summary: 'Sign a device out',
    body: () => ({ id: hexInput(32).describe('The device.') }),
    response: emptyJson,
    example: { body: { id: exampleToken }, response: {} },
    handler: async ({ parts, session }, { body }) => {
      await parts.console.devices.end(session.userPk, body.id);
      return {};
    },
  }),
  post('/v2/console/link_wallet', 'console', {
    access: 'public',
    requireHead: signInOrigin,
    summary: 'Read whose wallet a one-time link opens',
    description:
      'For the page of the console alone, which asks before it uses the link: a link of somebody else opens their wallet. The link stays as it is.',
    body: () => ({
      link: z.string().min(1).max(256).describe('The token of a one-time link.'),
    }),
    response: () => ({
      user_pk: hexOutput(32).describe('The wallet.'),
      node_kind: z.string().describe('The kind of its node, such as `sandbox`.'),
      network: z.string().describe('The Bitcoin network of the node.'),
      owner: z.boolean().describe("Whether the link signs in as the wallet's owner."),
      label: z
        .string()
        .nullable()
        .describe('The label of the client as which the link signs in; null without one.'),
      device: z.boolean().describe('Whether it is for a device, which stays signed in.'),
    }),
    errors: ['unauthenticated', 'hostNotAllowed', 'refused', 'unreachable', 'unreadable'],
    example: {
      body: { link: exampleToken },
      response: {
        user_pk: exampleWallet,
        node_kind: 'sandbox',
        network: 'regtest',
        owner: true,
        label: null,
        device: false,
      },
    },
    handler: async ({ parts }, { body }) => {
      const { session, isDevice } = await parts.console.lookAtLink(body.link);
      const { kind, network } = nodeFacts(session);
      return {
        user_pk: session.userPk,
        node_kind: kind,
        network,
        owner: session.isOwner,
        label: session.client()?.label ?? null,
        device: isDevice,
      };
    },
  }),
  post('/v2/console/session', 'console', {
    access: 'public',
    // A program that only holds connections open must not keep browsers out.
    requireHead: signInOrigin,
    summary: 'Sign a browser in to the console',
    description:
      'For the page of the console alone: `Origin` must name this sidecar. The answer sets an HttpOnly cookie, and every further request must carry that and the header `Console-Key` with the key. The session may do what its credentials may do. It ends with them, when they are narrowed, and with the process.',
    body: () => ({
      link: z.string().min(1).max(256).optional().describe('The token of a one-time link.'),
      credentials: z
        .string()
        .min(1)
        .max(8192)
        .optional()
        .describe('Client credentials, or the token of the cookie file; not with `link`.'),
    }),
    response: () => ({
      key: hexOutput(32).describe('The value of the header `Console-Key`.'),
      idle_secs: z.int().describe('The session ends after this many seconds without a request.'),
      longest_secs: z.int().describe('The session ends after this many seconds in any case.'),
    }),
    errors: ['unauthenticated', 'hostNotAllowed', 'refused'],
    example: {
      body: { link: exampleToken },
      response: { key: exampleToken, idle_secs: 900, longest_secs: 28800 },
    },
    handler: async ({ parts, headers }, { body }) => {
      const { key, cookie, ends } = await parts.console.signIn(headers, {
        link: body.link ?? null,
        credentials: body.credentials ?? null,
      });
      const secs = { idle_secs: ends.idleMs / 1000, longest_secs: ends.longestMs / 1000 };
      return withCookie({ key, ...secs }, cookie);
    },
  }),
  post('/v2/console/sign_out', 'console', {
    access: 'public',
    requireHead: signInOrigin,
    summary: 'End the session of the console that makes this request',
    body: () => ({}),
    response: emptyJson,
    errors: ['unauthenticated', 'hostNotAllowed'],
    example: { body: {}, response: {} },
    handler: async ({ parts, headers }) => withCookie({}, await parts.console.signOut(headers)),
  }),
];

function pageRoutes(files: readonly ConsoleFile[]): readonly Route[] {
  const serve = consoleFiles(files);
  return [
    get('/console', 'console', {
      access: 'public',
      summary: 'Show the console in a browser',
      mediaType: 'text/html; charset=utf-8',
      response: () => z.string().describe('The page.'),
      errors: ['notFound'],
      example: { response: '<!doctype html>' },
      handler: async ({ parts, headers }) =>
        serve(parts.console.seemsSignedIn(headers) ? SIGNED_IN_PAGE : PAGE, headers),
    }),
    get('/console/:file', 'console', {
      access: 'public',
      summary: 'Read a file of the console',
      mediaType: 'application/octet-stream',
      pathParameters: { file: 'The name of the file.' },
      response: () => z.string().describe('The file, with its own media type.'),
      errors: ['notFound'],
      example: { response: '' },
      handler: async (context) => serve(context.pathParameter('file'), context.headers),
    }),
    get('/', 'console', {
      access: 'public',
      summary: 'Redirect to the console',
      redirectsTo: '/console',
      response: () => z.null(),
      example: { response: null },
      handler: async () => new Response(null, { status: 302, headers: { location: '/console' } }),
    }),
  ];
}

function withCookie(body: object, cookie: string): Response {
  return Response.json(body, {
    headers: { 'set-cookie': cookie },
  });
}
