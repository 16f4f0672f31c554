import { z } from 'zod';
import { once } from '../lib/once.ts';
import type { Permission } from '../model/clients/permissions.ts';
import type { ErrorName } from '../model/errors.ts';
import type { EffectNames } from '../wallet/session/effect-names.ts';
import type { Session } from '../wallet/session/session.ts';
import type { Parts } from './parts.ts';

/** The groups of endpoints in the documentation. */
export type RouteGroup =
  | 'health'
  | 'node'
  | 'receive'
  | 'send'
  | 'payments'
  | 'events'
  | 'addresses'
  | 'proofs'
  | 'clients'
  | 'channels'
  | 'agents'
  | 'webhooks'
  | 'console'
  | 'sandbox';

/**
 * Who may call a route.
 *
 * `public`: every program that passes the guards. `authenticated`: any valid credentials. `owner`: the wallet's owner.
 * `root_seed`: a request without an Authorization header, where a root seed is configured. A permission: credentials
 * that have it. A list of permissions: credentials with at least one of them; the operation checks which one it needs.
 * `sandbox`: everyone, but with --require-auth only callers that may do everything in their wallet; `sandbox_wallet` is
 * the same for controls that act on the calling wallet.
 */
export type RouteAccess =
  | 'public'
  | 'authenticated'
  | 'owner'
  | 'root_seed'
  | 'sandbox'
  | 'sandbox_wallet'
  | Permission
  | readonly [Permission, ...Permission[]];

/** What a handler knows of a request besides its input. */
export interface RequestContext {
  readonly parts: Parts;
  /** Aborts when the client goes away, its credentials end or the server stops. Its reason is the error to answer. */
  readonly signal: AbortSignal;
  readonly idempotencyKey: string | null;
  /** Names of the request's effects outside, the same for each repeat with its key (docs/decisions.md 52). */
  readonly names: EffectNames;
  /** Must be called when a stream ends, because a stream outlives its handler. */
  readonly ended: () => void;
  /** `Prefer` (RFC 7240): answer 202 after so many milliseconds, 0 at once; null waits for the outcome. */
  readonly respondAfterMs: number | null;
  readonly lastEventId: string | null;
  /** The headers of the request, for the sign-in to the console. */
  readonly headers: Headers;
  /** The source of the request, by which requests of strangers are bounded. */
  readonly source: string;
  /** Returns the decoded value of a `:name` in the route's path. */
  readonly pathParameter: (name: string) => string;
  /** Closes the connection within seconds if its client does not read. */
  readonly closeUnread: () => void;
  /**
   * Makes a request to this application in the name of the caller of this one: with its connection and headers, and
   * those of `init` besides. It has an answer of its own where the credentials end or the server stops. An adapter of
   * another protocol is made of such requests (docs/decisions.md 185).
   */
  readonly call: (path: string, init: RequestInit) => Promise<globalThis.Response>;
}

/** The {@link RequestContext} of a route that needs credentials. */
export interface SessionContext extends RequestContext {
  readonly session: Session;
}

/** The schema of an answer without content. */
export const emptyJson = once(() => z.object({}));

/** An answer's body that is already JSON text. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** An answer with a status other than 200. */
export class Reply {
  constructor(
    readonly httpStatus: number,
    readonly body: unknown,
  ) {}
}

/** An example for the documentation. Tests check it against the schemas. */
interface RouteExample {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly response: unknown;
}

interface RouteFacts {
  /** One line in the imperative. */
  readonly summary: string;
  /** What else a caller must know. */
  readonly description?: string;
  /** Whether the API's specification has the endpoint; every other one is an addition to it. */
  readonly specified?: true;
  /** The target of a route that answers with a redirect (302). */
  readonly redirectsTo?: `/${string}`;
  /** The media type of a successful answer; JSON by default. */
  readonly mediaType?: string;
  /** Another media type that a request can ask for: text, sent as it is read. */
  readonly otherMediaType?: string;
  /** Whether versions up to 0.2.0 read no query: a repeat of a request of theirs must still be found as the same. */
  readonly queryIsNew?: true;
  /** The query parameter without which a repeat may miss what a lost answer told; else a GET can be repeated. */
  readonly repeatsWith?: string;
  /**
   * Returns the client whose secret a successful answer holds. Such an answer is kept encrypted, and only while that
   * client is active.
   */
  readonly secretOf?: (body: unknown) => string | null;
  /** Returns the permission that a repeat needs to get the kept answer, for a route whose access names several. */
  readonly permissionOf?: (answer: unknown) => Permission;
  /** Checks the headers of a request before its body is read. Throws the error to answer. */
  readonly requireHead?: (headers: Headers) => void;
  /** Fields that must be given in the body or in the query. */
  readonly neededInBodyOrQuery?: readonly string[];
  /** Fields with payment strings: requests are equal when these differ only in spelling. */
  readonly paymentStrings?: readonly string[];
  /**
   * When the `Prefer` header (RFC 7240) can make the route answer 202 with the pending payment: always, or only for a
   * repeat while the first request with its Idempotency-Key is still running.
   */
  readonly answersAccepted?: 'always' | 'repeats';
  /**
   * Whether the route spends money, or lets a service pay it out. Its errors say in `data.sent` what may have been sent
   * (docs/decisions.md 12).
   */
  readonly movesMoney?: true;
  /**
   * Whether payers call the route at the address domain too, from programs and from pages of any origin
   * (docs/decisions.md 100).
   */
  readonly answersAtDomain?: true;
  /** Whether agents have the route as a tool, by the last part of its path (docs/decisions.md 185). */
  readonly isTool?: true;
  /** Whether `Prefer` (RFC 7240) ends the wait with error 4: there is nothing to show before the end. */
  readonly endsWait?: true;
  /** Whether it tells of the whole wallet, or changes it, so that it is not for clients that see only their own. */
  readonly ofWallet?: true;
  /** Whether a request without an Idempotency-Key is rejected. */
  readonly needsKey?: true;
  /** The description of each `:name` in the path. */
  readonly pathParameters?: Readonly<Record<string, string>>;
  /** The errors that this route can answer besides those that follow from its access, method, body and query. */
  readonly errors?: readonly ErrorName[];
  readonly example: RouteExample;
}

/** Makes a schema, or the members of an object's, when it is first used: all of them take long to make. */
type MakeSchema = () => z.ZodType | z.ZodRawShape;

type SchemaOf<Made> = Made extends z.ZodType
  ? Made
  : Made extends z.ZodRawShape
    ? z.ZodObject<Made>
    : never;

type SchemaOutput<Make> = Make extends MakeSchema
  ? z.output<SchemaOf<ReturnType<Make>>>
  : undefined;

interface RouteDefinition<
  Access extends RouteAccess,
  Body extends MakeSchema | undefined,
  Query extends MakeSchema | undefined,
  Response extends MakeSchema,
> extends RouteFacts {
  readonly access: Access;
  /** Without it the body is not read. An empty body, or null, counts as `{}`. */
  readonly body?: Body;
  readonly query?: Query;
  readonly response: Response;
  readonly handler: (
    context: Access extends 'public' | 'root_seed' | 'sandbox' ? RequestContext : SessionContext,
    input: { readonly body: SchemaOutput<Body>; readonly query: SchemaOutput<Query> },
  ) => Promise<z.input<SchemaOf<ReturnType<Response>>> | RawJson | Reply | globalThis.Response>;
}

/** One endpoint as data. Validation, authorization and documentation are made from it (docs/decisions.md 3). */
export interface Route extends Omit<RouteFacts, 'specified'> {
  readonly method: Method;
  readonly path: Path;
  readonly group: RouteGroup;
  /** Whether the endpoint is an addition to the API's specification. */
  readonly addition: boolean;
  /** Whether the route reads an Idempotency-Key, as every POST below `/v2/node/` does (docs/decisions.md 49). */
  readonly takesKey: boolean;
  readonly access: RouteAccess;
  /** Whether there is a `body`. Each schema is made when it is first read. */
  readonly hasBody: boolean;
  readonly body: z.ZodType | null;
  readonly query: z.ZodType | null;
  readonly response: z.ZodType;
  readonly handler: (
    context: RequestContext,
    input: { readonly body: unknown; readonly query: unknown },
  ) => Promise<unknown>;
}

type Method = 'get' | 'post' | 'put';
type Path = `/${string}`;

/** Declares an endpoint that is called by GET. The types of the handler's input follow from its schemas. */
export const get = declaring('get');

/** {@link get} for POST. */
export const post = declaring('post');

/** {@link get} for PUT. */
export const put = declaring('put');

function declaring(method: Method) {
  return <
    const Access extends RouteAccess,
    Response extends MakeSchema,
    Body extends MakeSchema | undefined = undefined,
    Query extends MakeSchema | undefined = undefined,
  >(
    path: Path,
    group: RouteGroup,
    { specified, ...definition }: RouteDefinition<Access, Body, Query, Response>,
  ): Route => {
    const body = once(() => (definition.body ? schemaOf(definition.body()) : null));
    const query = once(() => (definition.query ? schemaOf(definition.query()) : null));
    const response = once(() => schemaOf(definition.response()));
    return {
      ...definition,
      method,
      path,
      group,
      addition: specified !== true,
      takesKey: method === 'post' && path.startsWith('/v2/node/'),
      hasBody: definition.body !== undefined,
      get body() {
        return body();
      },
      get query() {
        return query();
      },
      get response() {
        return response();
      },
      // The cast is safe: the runner parses with these schemas, and opens a session exactly when the access needs one.
      handler: definition.handler as Route['handler'],
    };
  };
}

function schemaOf(made: z.ZodType | z.ZodRawShape): z.ZodType {
  return made instanceof z.ZodType ? made : z.object(made);
}
