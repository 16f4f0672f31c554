import type { Clock } from '../lib/clock.ts';
import { type Client, isActive } from '../model/client.ts';
import { ApiError } from '../model/errors.ts';
import { effectivePermissions, type Permission } from '../model/permissions.ts';

/** What a handle asks before each call: whether its credential is still good and holds one of the permissions. */
export type Guard = (...permissions: Permission[]) => void;

/** A client's live state, shared by all its handles. */
export interface LiveClient {
  readonly userPk: string;
  readonly client: () => Client;
  readonly ended: AbortSignal;
  readonly guard: Guard;
}

/** The clients that are connected, so that a change or revocation reaches their handles at once. */
export interface ClientSessions {
  /** The live state of a client that has proved itself. Throws `unauthenticated` when it is no longer active. */
  open(userPk: string, client: Client): LiveClient;
  /** Puts a client's new state in force; one that is no longer active ends. */
  changed(client: Client): void;
  /** Ends what has expired; to be called when the clock moved. */
  expire(): void;
  close(): void;
}

/** The clients are looked at no later than this while any can expire, so that a jump of the clock is noticed. */
const LONGEST_TIMER_MS = 60_000;

/** Opens the book of connected clients. `clock` is the node's. */
export function openClientSessions(clock: Clock): ClientSessions {
  const live = new Map<string, { client: Client; session: LiveClient; end: AbortController }>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function open(userPk: string, client: Client): LiveClient {
    if (!isActive(client, clock.now())) throw endedCredentials();
    const known = live.get(client.clientPk);
    if (known) return known.session;
    const end = new AbortController();
    const entry = { client, end, session: undefined as unknown as LiveClient };
    entry.session = {
      userPk,
      client: () => entry.client,
      ended: end.signal,
      guard: (...permissions) => {
        if (!isActive(entry.client, clock.now())) throw endedCredentials();
        requireOne(entry.client, permissions);
      },
    };
    live.set(client.clientPk, entry);
    arm();
    return entry.session;
  }

  function changed(client: Client): void {
    const entry = live.get(client.clientPk);
    if (!entry) return;
    entry.client = client;
    endUnlessActive(entry);
    arm();
  }

  function expire(): void {
    for (const entry of live.values()) endUnlessActive(entry);
    arm();
  }

  function endUnlessActive({ client, end }: { client: Client; end: AbortController }): void {
    if (isActive(client, clock.now())) return;
    live.delete(client.clientPk);
    end.abort(endedCredentials());
  }

  function arm(): void {
    clearTimeout(timer);
    const expiries = [...live.values()].flatMap(({ client }) => client.expiresAtMs ?? []);
    if (expiries.length === 0) return;
    const inMs = Math.min(...expiries) - clock.now();
    timer = setTimeout(expire, Math.min(Math.max(inMs, 0), LONGEST_TIMER_MS));
  }

  return { open, changed, expire, close: () => clearTimeout(timer) };
}

function requireOne(client: Client, permissions: readonly Permission[]): void {
  const [first] = permissions;
  if (first === undefined) return;
  const granted = effectivePermissions(client.scopes, client.permissions);
  if (permissions.some((permission) => granted.includes(permission))) return;
  throw new ApiError('forbidden', `The node refused: the credentials lack ${first}.`, {
    data: { permission: first },
  });
}

/** Error 104, without telling why. */
export function endedCredentials(): ApiError {
  return new ApiError(
    'unauthenticated',
    'These credentials are unknown, expired or revoked: ask the wallet owner for new ones.',
  );
}
