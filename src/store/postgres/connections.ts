import { SQL } from 'bun';
import { sleep } from '../../lib/sleep.ts';

/** Connections to a database, which are all opened again when the server falls silent. */
export interface Connections {
  /** The present pool. Use it for one piece of work, and ask for it again. */
  readonly sql: SQL;
  /**
   * Cuts every connection, so that what waits for an answer fails at once. A server whose machine is gone sends no end
   * of a connection, and the system would wait for it for many minutes.
   */
  cut(): void;
  close(): Promise<void>;
}

/** A session that is idle within a transaction belongs to a process that was paused, and is ended by the server. */
const MOST_IDLE_MS = 5000;
const CONNECT_SECS = 3;
const CLOSE_SECS = 1;

/** Opens at most `max` connections, as they are needed. */
export function openConnections(url: string, max: number): Connections {
  const open = () =>
    new SQL(url, {
      max,
      bigint: true,
      connectionTimeout: CONNECT_SECS,
      connection: {
        application_name: 'wallet-sidecar',
        search_path: 'wallet_sidecar',
        idle_in_transaction_session_timeout: MOST_IDLE_MS,
        // What was answered must be on disk, whatever the database's default is (docs/decisions.md 85).
        synchronous_commit: 'on',
        // Every statement is short, and compiling one takes longer. The server compiles what joins tables of one row,
        // which it never counts and takes for thousands.
        jit: 'off',
      },
    });
  let sql = open();
  return {
    get sql() {
      return sql;
    },
    cut() {
      const silent = sql;
      sql = open();
      void silent.close({ timeout: 0 }).catch(() => undefined);
    },
    close: () => sql.close({ timeout: CLOSE_SECS }),
  };
}

/**
 * Runs work that a database answers soon, and calls `onSilent`, which must cut the connections, when it has not
 * answered for `ms`. When `ending` aborts, it is not waited for any more.
 */
export async function unlessSilent<T>(
  work: () => Promise<T>,
  { ms, onSilent, ending }: { ms: number; onSilent: () => void; ending?: AbortSignal },
): Promise<T> {
  const answered = new AbortController();
  const { signal } = answered;
  void sleep(ms, ending ? AbortSignal.any([signal, ending]) : signal).then(() => {
    if (!signal.aborted) onSilent();
  });
  try {
    return await work();
  } finally {
    answered.abort();
  }
}
