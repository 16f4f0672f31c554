import { resolveSchema, type Schema } from './json-schema.ts';

/** A parameter of an endpoint. */
interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** One endpoint as the OpenAPI document describes it. */
export interface Operation {
  /** The method, in upper case. */
  readonly method: string;
  /** The path, with `{name}` for parameters. */
  readonly path: string;
  readonly group: string;
  readonly body: Schema | null;
  readonly bodyRequired: boolean;
  /** Whether it redirects, by 302. */
  readonly redirects: boolean;
  readonly query: readonly Parameter[];
  readonly headers: readonly Parameter[];
  /** Error codes by HTTP status. */
  readonly errors: ReadonlyMap<number, readonly number[]>;
  /** The content types of the answers below 300 and the schema of the first, by HTTP status. */
  readonly answers: ReadonlyMap<
    number,
    { readonly contentTypes: readonly string[]; readonly schema: Schema }
  >;
}

interface Described {
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter & { readonly in: string })[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly $ref?: string;
        readonly 'x-error-codes'?: readonly number[];
        readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
      }
    >
  >;
}

/** Every operation of the document. */
export function operationsOf(document: Schema): readonly Operation[] {
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Described>>>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      operation(document, path, method, described),
    ),
  );
}

function operation(
  document: Schema,
  path: string,
  method: string,
  described: Described,
): Operation {
  const parametersIn = (place: string) =>
    (described.parameters ?? []).filter((parameter) => parameter.in === place);
  const errors = new Map<number, readonly number[]>();
  const answers = new Map<number, { contentTypes: string[]; schema: Schema }>();
  for (const [status, response] of Object.entries(described.responses)) {
    const { content, 'x-error-codes': codes = [] } = resolveSchema(
      response,
      document,
    ) as (typeof described.responses)[string];
    const contentTypes = Object.keys(content ?? {});
    const schema = content?.[contentTypes[0] ?? '']?.schema ?? {};
    if (Number(status) < 300) answers.set(Number(status), { contentTypes, schema });
    else errors.set(Number(status), codes);
  }
  const body = described.requestBody?.content['application/json'].schema;
  return {
    method: method.toUpperCase(),
    path,
    group: described.tags[0] ?? '',
    body: body ? resolveSchema(body, document) : null,
    redirects: '302' in described.responses,
    bodyRequired: described.requestBody?.required ?? false,
    query: parametersIn('query'),
    headers: parametersIn('header'),
    errors,
    answers,
  };
}

/** Returns the operation that a request is for; HEAD counts as GET. */
export function operationFor(
  operations: readonly Operation[],
  method: string,
  target: string,
): Operation | null {
  const path = normalPath(target);
  const wanted = method === 'HEAD' ? 'GET' : method;
  return operations.find((one) => one.method === wanted && matches(one.path, path)) ?? null;
}

/** Returns the path without dots, absolute forms and needless percent-encoding (RFC 3986, section 6.2). */
function normalPath(target: string): string {
  // A path that begins with two slashes would be read as a host.
  const url = target.startsWith('/') ? `http://localhost${target}` : target;
  const path = URL.parse(url)?.pathname ?? target;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
}
