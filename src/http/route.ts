import type { z } from 'zod';
import type { ErrorName } from '../model/errors.ts';
import type { Permission } from '../model/permissions.ts';
import type { EffectNames } from '../wallet/effect-names.ts';
import type { Session } from '../wallet/session.ts';
import type { Parts } from './parts.ts';

/** The domains that routes are grouped by. */
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
  | 'webhooks'
  | 'sandbox';

/**
 * Who may call a route: every program that passes the guards, any valid credential, the wallet's owner, the root seed
 * without an Authorization header, or a credential with the permission (of several: with at least one; the operation
 * checks the exact one). Controls of the sandbox are open to all, and with --require-auth to those who may do
 * everything in their wallet; `sandbox_wallet` is about the calling wallet.
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

/** What a handler knows of the request besides its input. */
export interface RequestContext {
  readonly parts: Parts;
  /** Aborts when the client goes away or the server stops; its reason is what to answer. */
  readonly signal: AbortSignal;
  readonly idempotencyKey: string | null;
  /** Names for what the request causes outside, the same for every repeat with its key. */
  readonly names: EffectNames;
  /** Tells that a stream, which outlives its handler, has ended. */
  readonly ended: () => void;
  /** RFC 7240: answer 202 at once (0) or after so many milliseconds; null waits for the outcome. */
  readonly respondAfterMs: number | null;
  /** Last-Event-ID of a resumed stream. */
  readonly lastEventId: string | null;
  /** A `:name` of the route's path, decoded. */
  readonly pathParameter: (name: string) => string;
  /** Closes the connection within seconds unless its client takes something from it. */
  readonly closeUnread: () => void;
}

/** {@link RequestContext} of a route that needs credentials. */
export interface SessionContext extends RequestContext {
  readonly session: Session;
}

/** JSON that is stored as text and answered as it is. */
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

/** An example, shown in the documentation and tried by the tests against the schemas. */
export interface RouteExample {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly response: unknown;
}

interface RouteFacts {
  readonly method: 'get' | 'post' | 'put';
  readonly path: `/${string}`;
  readonly group: RouteGroup;
  /** One line, in the imperative. */
  readonly summary: string;
  /** What else a caller must know. */
  readonly description?: string;
  /** Not in the contract, but ours. */
  readonly addition?: boolean;
  /** Where a good answer leads with 302, instead of carrying anything. */
  readonly redirectsTo?: `/${string}`;
  /** What a good answer is sent as; JSON unless told. */
  readonly mediaType?: string;
  /** The client whose secret a good answer holds: such an answer is kept sealed, and only while the client lives. */
  readonly secretOf?: (body: unknown) => string | null;
  /** The permission that a kept answer needs, where the access names several. */
  readonly permissionOf?: (answer: unknown) => Permission;
  /** Fields of body and query that must stand in one of the two. */
  readonly neededInBodyOrQuery?: readonly string[];
  /** Fields of body and query that hold payment strings: two spellings of one string are one request. */
  readonly paymentStrings?: readonly string[];
  /**
   * Where `Prefer` can have it answered with 202 and the pending payment (RFC 7240): always, or only a repeat while the
   * first request with its Idempotency-Key is still running.
   */
  readonly answersAccepted?: 'always' | 'repeats';
  /** What each `:name` of the path is. */
  readonly pathParameters?: Readonly<Record<string, string>>;
  /** The errors of its own, beyond those of every route. */
  readonly errors?: readonly ErrorName[];
  readonly example: RouteExample;
}

type SchemaOutput<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

interface RouteDefinition<
  Access extends RouteAccess,
  Body extends z.ZodType | undefined,
  Query extends z.ZodType | undefined,
  Response extends z.ZodType,
> extends RouteFacts {
  readonly access: Access;
  /** Absent: the body is not read. An empty body counts as `{}`. */
  readonly body?: Body;
  readonly query?: Query;
  readonly response: Response;
  readonly handler: (
    context: Access extends 'public' | 'root_seed' | 'sandbox' ? RequestContext : SessionContext,
    input: { readonly body: SchemaOutput<Body>; readonly query: SchemaOutput<Query> },
  ) => Promise<z.input<Response> | RawJson | Reply | globalThis.Response>;
}

/** One endpoint as data; validation, authorization and documentation read it. */
export interface Route extends RouteFacts {
  readonly access: RouteAccess;
  /** Whether it reads an Idempotency-Key: every POST of the node does (decisions section 6). */
  readonly takesKey: boolean;
  /** Whether an error must say in `data.sent` what may have been sent (docs/decisions.md 12). */
  readonly movesMoney: boolean;
  readonly body: z.ZodType | null;
  readonly query: z.ZodType | null;
  readonly response: z.ZodType;
  readonly handler: (
    context: RequestContext,
    input: { readonly body: unknown; readonly query: unknown },
  ) => Promise<unknown>;
}

/** Declares an endpoint, with the handler's input typed by its schemas. */
export function route<
  const Access extends RouteAccess,
  Response extends z.ZodType,
  Body extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
>(definition: RouteDefinition<Access, Body, Query, Response>): Route {
  return {
    ...definition,
    takesKey: definition.method === 'post' && definition.path.startsWith('/v2/node/'),
    movesMoney: definition.answersAccepted === 'always',
    body: definition.body ?? null,
    query: definition.query ?? null,
    // The runner parses with these very schemas and opens a session exactly when the access asks for one.
    handler: definition.handler as Route['handler'],
  };
}
