import packageJson from '../package.json';
import { openApiDocument } from '../src/http/openapi/document.ts';
import type { Route } from '../src/http/route.ts';
import { ROUTES } from '../src/http/routes/index.ts';

/** The part of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  /** `sat` where the text is an amount in satoshis. */
  readonly 'x-unit'?: string;
  readonly const?: unknown;
  readonly enum?: readonly (string | number | null)[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly else?: Schema;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
  /** The only codes of errors that have this member. */
  readonly 'x-error-codes'?: readonly number[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } };
  readonly responses: { 200: { content: Readonly<Record<string, { schema: Schema }>> } };
}

/** One endpoint, as a client calls it. */
export interface Endpoint {
  readonly route: Route;
  /** The name of its method, in words that are joined by `_`. */
  readonly name: string;
  readonly description: string;
  readonly request: Schema | null;
  readonly response: Schema;
}

/** Method names that differ from the last part of their path. */
const NAMES: Readonly<Record<string, string>> = {
  'put /v2/node/human_bitcoin_address': 'claim_human_bitcoin_address',
  'get /v2/webhooks/deliveries': 'webhook_deliveries',
  'get /v2/webhooks/attempts': 'webhook_attempts',
  'post /v2/webhooks/redeliver': 'redeliver_webhooks',
  'get /v2/webhooks/endpoints': 'webhook_endpoints',
  'post /v2/webhooks/endpoints': 'add_webhook_endpoint',
  'post /v2/webhooks/endpoints/renew': 'renew_webhook_endpoint',
  'post /v2/webhooks/endpoints/delete': 'delete_webhook_endpoint',
  'post /v2/webhooks/endpoints/test': 'test_webhook_endpoint',
};

/** What clients are generated from. */
export interface ApiDescription {
  readonly version: string;
  /** The named schemas, by name. */
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly endpoints: readonly Endpoint[];
  /** The members of `data` of errors, by name. */
  readonly errorData: Readonly<Record<string, Schema>>;
}

/** Returns what the OpenAPI document says to clients. */
export function apiDescription(): ApiDescription {
  const { version } = packageJson;
  const document = openApiDocument(ROUTES, { version, serverUrl: '' });
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const { Error: error, ...schemas } = (document.components as { schemas: Record<string, Schema> })
    .schemas;
  // An answer that is no JSON is saved as it comes, for which nobody needs a client.
  const called = ROUTES.filter(({ otherMediaType }) => otherMediaType === undefined);
  const endpoints = called.map((route) =>
    endpointOf(route, paths[route.path]?.[route.method] as Operation),
  );
  return { version, schemas, endpoints, errorData: error?.properties?.data?.properties ?? {} };
}

function endpointOf(route: Route, operation: Operation): Endpoint {
  const name = NAMES[`${route.method} ${route.path}`] ?? route.path.split('/').at(-1) ?? '';
  const response = Object.values(operation.responses[200].content)[0]?.schema ?? {};
  const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const body = operation.requestBody?.content['application/json'].schema;
  const request = body ? withEitherPlace(body, route) : queryObject(inQuery);
  const empty = Object.keys(request.properties ?? {}).length === 0;
  return {
    route,
    name,
    description: operation.description,
    request: empty ? null : request,
    response,
  };
}

/** A field that may be given in the body or in the query is sent in the body. */
function withEitherPlace(body: Schema, { neededInBodyOrQuery: needed = [] }: Route): Schema {
  const properties = Object.fromEntries(
    Object.entries(body.properties ?? {}).map(([name, property]) => [
      name,
      needed.includes(name) ? withoutNull(property) : property,
    ]),
  );
  return { ...body, properties, required: [...(body.required ?? []), ...needed] };
}

function withoutNull(schema: Schema): Schema {
  return { ...schema, type: [schema.type ?? []].flat().filter((type) => type !== 'null') };
}

function queryObject(parameters: readonly Parameter[]): Schema {
  return {
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description = '' }) => [name, { ...schema, description }]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Whether the endpoint answers each request once. The event stream does not; clients read it by hand. */
export function isCall({ route }: Endpoint): boolean {
  return route.group !== 'events';
}

/** Returns the members of `data` that only the error with this code can have; with null those that every error can. */
export function membersOf(code: number | null, errorData: ApiDescription['errorData']): Schema {
  const members = Object.entries(errorData).filter(([, { 'x-error-codes': codes }]) =>
    code === null ? codes === undefined : codes?.includes(code),
  );
  return { properties: Object.fromEntries(members) };
}

/** Returns the endpoint's method and path, such as `GET /v2/health`. */
export function titleOf({ route }: Endpoint): string {
  return `${route.method.toUpperCase()} ${route.path}`;
}

/** Returns the name of the schema that a reference leads to; undefined where the schema is not one. */
export function referredName({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1);
}

/** Whether values of this type and schema are amounts in satoshis, which are written as decimal text. */
export function isAmount(type: string, schema: Schema): boolean {
  return type === 'string' && schema['x-unit'] === 'sat';
}

/** Whether an answer holds nothing. */
export function isEmpty(schema: Schema): boolean {
  return schema.properties !== undefined && Object.keys(schema.properties).length === 0;
}

/** Returns words that are joined by `_` as one that begins each with a capital. */
export function pascal(name: string): string {
  return name.split('_').map(capitalized).join('');
}

/** Returns text with its first letter as a capital. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
