import { z } from 'zod';
import { ERRORS, type ErrorName } from '../model/errors.ts';
import type { Route, RouteAccess, RouteGroup } from './route.ts';

type Json = Record<string, unknown>;

/** Errors that every endpoint can answer with, whatever it does. */
const COMMON_ERRORS: readonly ErrorName[] = ['rejected', 'hostNotAllowed', 'internal'];
const SESSION_ERRORS: readonly ErrorName[] = ['unauthenticated', 'forbidden'];

const errorJson = z
  .object({
    code: z.int(),
    msg: z.string(),
    data: z.unknown(),
    sensitive: z.boolean(),
  })
  .meta({ id: 'Error', description: 'The body of every error answer.' });

/** What each group of endpoints is for, in a sentence or two; the page of documentation shows the same. */
export const GROUP_DESCRIPTIONS: Readonly<Record<RouteGroup, string>> = {
  health: 'Whether the sidecar runs, its figures, and this documentation.',
  node: 'The wallet node: sign up once with the root seed, then read balances and identity.',
  receive: 'Invoices, offers, addresses and withdrawals, by which money arrives.',
  send: 'Understand a payment string, and pay it. Paying waits until the payment is final, unless told otherwise with `Prefer`.',
  payments: 'Read payments from the local cache, wait for them, annotate and cancel them.',
  events: 'Changes of payments as they happen, as server-sent events.',
  addresses: 'Human Bitcoin Addresses (BIP 353) of the wallet.',
  channels: 'Lightning channels of the node.',
  proofs: 'Proofs that an invoice of an offer was paid (BOLT 12).',
  clients: 'Credentials for applications, with scopes and budgets; revocable.',
  webhooks: 'Notices of finished payments: which were delivered, and sending them again.',
  sandbox: 'Controls of the simulated network; they exist only while the sandbox node is in use.',
};

interface DocumentOptions {
  readonly version: string;
  readonly serverUrl: string;
}

/** The OpenAPI 3.1 document of the routes, derived from the very entries that validate requests. */
export function openApiDocument(routes: readonly Route[], options: DocumentOptions): Json {
  const components = new Map<string, Json>();
  const errorSchema = jsonSchema(errorJson, 'output', components);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [route.method]: operation(route, errorSchema, components),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Wallet Sidecar',
      version: options.version,
      description:
        'A local HTTP API to a self-custodial Bitcoin and Lightning wallet. Amounts are satoshis as strings, times are milliseconds since the UNIX epoch.',
      contact: { name: 'The maintainers of wallet-sidecar' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.serverUrl }],
    tags: [...new Set(routes.map((route) => route.group))].map((name) => ({
      name,
      description: GROUP_DESCRIPTIONS[name],
    })),
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        clientCredentials: {
          type: 'http',
          scheme: 'bearer',
          description: 'Client credentials. Without them the default credentials are used.',
        },
      },
    },
  };
}

function operation(route: Route, errorSchema: Json, components: Map<string, Json>): Json {
  const open = ['public', 'root_seed', 'sandbox'].some((access) => access === route.access);
  return {
    operationId: operationId(route),
    tags: [route.group],
    summary: route.summary,
    description: [route.description, accessSentence(route.access), route.addition && ADDITION]
      .filter(Boolean)
      .join('\n\n'),
    'x-permission': route.access,
    ...(route.addition ? { 'x-addition': true } : {}),
    security: open ? [{}] : [{ clientCredentials: [] }, {}],
    ...parametersOf(route, components),
    ...(route.body
      ? {
          requestBody: {
            content: {
              'application/json': {
                schema: jsonSchema(route.body, 'input', components),
                ...(route.example.body ? { example: route.example.body } : {}),
              },
            },
          },
        }
      : {}),
    responses: responses(route, errorSchema, components),
  };
}

const ADDITION = 'An addition to the contract.';

/** A name for generated clients: method and last part of the path. */
function operationId(route: Route): string {
  const name = route.path.replace(/^\/v2\/(node\/)?/, '').replace(/[^a-z0-9]+/gi, '_');
  return `${route.method}_${name.replace(/^_+|_+$/g, '')}`;
}

const ACCESS_WORDS: Readonly<Record<string, string>> = {
  public: 'Needs no credentials.',
  authenticated: 'Needs any valid credentials.',
  owner: "Needs the wallet owner's credentials: the root seed, the node's own, or the cookie.",
  root_seed: 'Needs the root seed and no Authorization header; with --require-auth, the cookie.',
  sandbox: 'Needs no credentials; with --require-auth, credentials that may do everything.',
  sandbox_wallet:
    'Needs any valid credentials; with --require-auth, credentials that may do everything.',
};

/** Who may call a route, in words. */
export function accessSentence(access: RouteAccess): string {
  if (typeof access === 'string')
    return ACCESS_WORDS[access] ?? `Needs the permission \`${access}\`.`;
  const names = access.map((permission) => `\`${permission}\``).join(', ');
  return `Needs the permission of the method used, one of ${names}.`;
}

function parametersOf(route: Route, components: Map<string, Json>): Json {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = route.query ? queryParameters(route, route.query, components) : [];
  const parameters = [...inPath, ...inQuery];
  return parameters.length === 0 ? {} : { parameters };
}

function queryParameters(route: Route, query: z.ZodType, components: Map<string, Json>): Json[] {
  const schema = jsonSchema(query, 'input', components);
  const required = new Set(schema.required as string[] | undefined);
  return Object.entries(schema.properties as Record<string, Json>).map(([name, property]) => {
    const example = route.example.query?.[name];
    return {
      name,
      in: 'query',
      required: required.has(name),
      schema: property,
      ...(property.description ? { description: property.description } : {}),
      ...(example === undefined ? {} : { example }),
    };
  });
}

function responses(route: Route, errorSchema: Json, components: Map<string, Json>): Json {
  const mediaType = route.mediaType ?? 'application/json';
  const stream = mediaType === 'text/event-stream';
  const answers: Record<string, Json> = {
    200: {
      description: stream ? 'A stream of events; the data of each is as below.' : 'Done.',
      content: {
        [mediaType]: {
          schema: jsonSchema(route.response, 'output', components),
          ...(stream ? {} : { example: route.example.response }),
        },
      },
    },
  };
  if (route.group === 'send' && route.method === 'post') {
    answers['202'] = {
      description: 'With `Prefer: respond-async` or `wait=N`: the payment, still pending.',
      content: {
        'application/json': { schema: jsonSchema(route.response, 'output', components) },
      },
    };
  }
  for (const [status, names] of errorsByStatus(route)) {
    answers[status] = {
      description: names.map((name) => `${ERRORS[name].code}: ${ERRORS[name].meaning}`).join(' '),
      content: { 'application/json': { schema: errorSchema } },
    };
  }
  return answers;
}

function errorsByStatus(route: Route): Map<string, ErrorName[]> {
  const needsSession = route.access !== 'public';
  const once = route.method === 'post' && route.path.startsWith('/v2/node/');
  const names = new Set<ErrorName>([
    ...COMMON_ERRORS,
    ...(needsSession ? SESSION_ERRORS : []),
    ...(needsSession ? (['refused'] as const) : []),
    ...(once ? (['idempotencyConflict'] as const) : []),
    ...(route.errors ?? []),
  ]);
  const byStatus = new Map<string, ErrorName[]>();
  for (const name of names) {
    const status = String(ERRORS[name].httpStatus);
    byStatus.set(status, [...(byStatus.get(status) ?? []), name]);
  }
  return byStatus;
}

/** The JSON schema of a zod schema; named schemas go to `components` and are referred to. */
function jsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Map<string, Json>,
): Json {
  // Wrapped, so that a named schema at the top is referred to like any other.
  const wrapped = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any' });
  const text = JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs, properties } = JSON.parse(text) as {
    $defs?: Record<string, Json>;
    properties: { it: Json };
  };
  for (const [name, { id: _, ...definition }] of Object.entries($defs ?? {})) {
    components.set(name, definition);
  }
  return properties.it;
}
