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

const CONNECT_SECS = 3;
const CLOSE_SECS = 1;

/**
 * Opens at most `max` connections, as they are needed. `onOpened` is called for each, since another server may be
 * behind it than behind those before. A connection is asked for nothing that a pooler would refuse: statements name
 * their schema, and transactions begin with their settings (docs/decisions.md 146).
 */
export function openConnections(
  url: string,
  max: number,
  onOpened: () => void = () => undefined,
): Connections {
  const open = () =>
    new SQL(url, {
      max,
      bigint: true,
      connectionTimeout: CONNECT_SECS,
      onconnect: onOpened,
      connection: { application_name: 'wallet-sidecar' },
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
