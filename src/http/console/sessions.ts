import { hex } from '@scure/base';
import { hashOf } from '../../lib/secrets/hash-of.ts';
import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import type { Permission } from '../../model/clients/permissions.ts';
import { ApiError } from '../../model/errors.ts';
import type { ClientOfDevice } from '../../wallet/open/wallets.ts';
import { endedForRoom } from './room.ts';

/** After this long without a request a session ends, in milliseconds. */
export const IDLE_MS = 15 * 60_000;
/** A session ends after this long however much it is used, in milliseconds. */
export const LONGEST_MS = 8 * 60 * 60_000;

const SECRET_BYTES = 32;

interface SignedIn {
  /** A text that is different for each caller of each wallet. */
  readonly caller: string;
  /** The credentials of the sign-in; null stands for the default wallet. */
  readonly credentials: string | null | ClientOfDevice;
  /** The origin of the page that signed in. */
  readonly origin: string;
  readonly permissions: readonly Permission[];
}

/** A session that is open. */
export interface ConsoleSession extends SignedIn {
  /** Aborts when the session ends. Its reason is the error to answer. */
  readonly ended: AbortSignal;
  readonly end: () => void | Promise<void>;
}

/**
 * The two halves of a session, each 64 hex characters. A browser keeps `id` in a cookie, which scripts cannot read, and
 * `key` in a storage that other ports of the host cannot read. A request needs both (docs/decisions.md 133).
 */
export interface SessionSecrets {
  readonly id: string;
  readonly key: string;
}

interface SessionsOptions {
  /** Returns monotonic milliseconds. */
  readonly elapsedMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
}

/** Creates an empty set of sessions of the console. They are in memory alone, so a restart ends them. */
export function consoleSessions({ elapsedMs, random }: SessionsOptions) {
  // The hashes of the ids are the keys, so that the time of a look-up says nothing about an id.
  const sessions = new Map<string, Open>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins a session. A caller's eleventh ends the one of its own that was idle longest. */
  function begin(signedIn: SignedIn): SessionSecrets {
    sweep();
    const idlestFirst = [...sessions.values()].toSorted((a, b) => a.usedMs - b.usedMs);
    endedForRoom(idlestFirst, signedIn.caller)?.end();
    const secrets = { id: hex.encode(random(SECRET_BYTES)), key: hex.encode(random(SECRET_BYTES)) };
    const hash = hashOf(secrets.id);
    const nowMs = elapsedMs();
    const ended = new AbortController();
    const end = () => {
      sessions.delete(hash);
      ended.abort(endedSession());
    };
    const { key } = secrets;
    const latestMs = nowMs + LONGEST_MS;
    sessions.set(hash, { ...signedIn, ended: ended.signal, end, key, usedMs: nowMs, latestMs });
    arm();
    return secrets;
  }

  /** Returns the session of these halves and keeps it for another {@link IDLE_MS}; null when there is none. */
  function find({ id, key }: SessionSecrets): ConsoleSession | null {
    sweep();
    const session = sessions.get(hashOf(id));
    if (!session || !isSameSecret(key, session.key)) return null;
    session.usedMs = elapsedMs();
    return session;
  }

  /** Ends the sessions whose time is over, so that their open streams end too. */
  function sweep(): void {
    const nowMs = elapsedMs();
    for (const session of sessions.values()) if (endsMs(session) <= nowMs) session.end();
  }

  function arm(): void {
    clearTimeout(timer);
    if (sessions.size === 0) return;
    const soonestMs = Math.min(...[...sessions.values()].map(endsMs));
    timer = setTimeout(
      () => {
        sweep();
        arm();
      },
      Math.max(soonestMs - elapsedMs(), 1000),
    );
    // A session must not keep a process from ending.
    timer.unref();
  }

  return { begin, find };
}

/** Returns the error for a request whose session is unknown or has ended. */
export function endedSession(): ApiError {
  return new ApiError('unauthenticated', 'This session of the console has ended: sign in again.');
}

interface Open extends ConsoleSession {
  readonly key: string;
  usedMs: number;
  readonly latestMs: number;
}

function endsMs({ usedMs, latestMs }: Open): number {
  return Math.min(usedMs + IDLE_MS, latestMs);
}
