import type { Route } from '../route.ts';
import { type Json, jsonSchema, type Schemas } from './json-schema.ts';
import { parametersOf } from './parameters.ts';
import { HEADERS, responsesOf, sharedResponses } from './responses.ts';
import { webhooks } from './webhook.ts';
import { ADDITION, accessSentence, CALLING, GROUP_DESCRIPTIONS, tagOf } from './words.ts';

interface DocumentOptions {
  readonly version: string;
  readonly serverUrl: string;
}

/** Returns the OpenAPI 3.1 document, made of the entries that validate requests (docs/decisions.md 3). */
export function openApiDocument(routes: readonly Route[], options: DocumentOptions): Json {
  const schemas: Schemas = new Map();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operation(route, schemas) };
  }
  const hooks = webhooks(schemas);
  const responses = sharedResponses(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Wallet Sidecar',
      version: options.version,
      summary: 'A local HTTP API to a self-custodial Bitcoin and Lightning wallet.',
      description: CALLING.map(([title, text]) => `## ${title}\n\n${text}`).join('\n\n'),
      contact: { name: 'The maintainers of wallet-sidecar' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.serverUrl }],
    tags: [...new Set(routes.map((route) => route.group))].map((group) => ({
      name: tagOf(group),
      description: GROUP_DESCRIPTIONS[group],
    })),
    paths,
    webhooks: hooks,
    components: {
      schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses,
      headers: HEADERS,
      securitySchemes: {
        clientCredentials: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Client credentials, or the token of the file `cookie` in the data directory. Without them the default credentials are used, unless the sidecar runs with --require-auth.',
        },
        cookie: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of the file `cookie` in the data directory.',
        },
      },
    },
  };
}

function operation(route: Route, schemas: Schemas): Json {
  const parameters = parametersOf(route, schemas);
  return {
    operationId: operationId(route),
    tags: [tagOf(route.group)],
    summary: route.summary,
    description: [route.description, accessSentence(route.access), route.addition && ADDITION]
      .filter(Boolean)
      .join('\n\n'),
    'x-permission': route.access,
    ...(route.addition ? { 'x-addition': true } : {}),
    security: securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: requestBody(route, route.body, schemas) } : {}),
    responses: responsesOf(route, schemas),
  };
}

/** Returns the operation's name for generated clients: the method and the last part of the path. */
function operationId(route: Route): string {
  const name = route.path.replace(/^\/v2\/(node\/)?/, '').replace(/[^a-z0-9]+/gi, '_');
  return `${route.method}_${name.replace(/^_+|_+$/g, '') || 'root'}`;
}

/** Returns the security requirements of a route. An empty requirement comes first where the header may be left out. */
function securityOf({ access }: Route): readonly Json[] {
  if (access === 'public') return [{}];
  return access === 'root_seed' ? [{}, { cookie: [] }] : [{}, { clientCredentials: [] }];
}

function requestBody({ example }: Route, body: NonNullable<Route['body']>, schemas: Schemas): Json {
  return {
    // An empty body counts as `{}`.
    required: !body.safeParse({}).success,
    content: {
      'application/json': {
        schema: jsonSchema(body, 'body', schemas),
        example: example.body ?? {},
      },
    },
  };
}
