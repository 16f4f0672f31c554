import type { CuttingProxy } from './cutting-proxy.ts';
import type { TestPostgres } from './postgres.ts';
import { until } from './until.ts';

/** Copies of a database, one of which takes its place, as a standby does that lacks the newest commits. */
export interface PostgresCopies {
  /** Copies the database as it is. Returns the name of the copy. */
  copy(): Promise<string>;
  /** The copy takes the place of the database. */
  failOverTo(copy: string): Promise<void>;
  /** Runs SQL about whole databases, while no sidecar can reach one. */
  whileAway(...statements: string[]): Promise<void>;
}

/** Prepares it for a database that sidecars reach by the proxy alone. `url` is the server's own. */
export function postgresCopies(
  server: TestPostgres,
  proxy: CuttingProxy,
  url: string,
): PostgresCopies {
  const name = new URL(url).pathname.slice(1);
  const admin = new URL('/postgres', url).href;
  let made = 0;
  const whileAway = async (...statements: string[]) => {
    proxy.refuse(true);
    await until(async () => (await server.endSessions()) === 0, 'all sessions have ended');
    for (const statement of statements) await server.run(admin, statement);
    proxy.refuse(false);
  };
  return {
    async copy() {
      made += 1;
      const copy = `${name}_copy_${made}`;
      await whileAway(`CREATE DATABASE ${copy} TEMPLATE ${name}`);
      return copy;
    },
    failOverTo: (copy) =>
      whileAway(
        `ALTER DATABASE ${name} RENAME TO ${copy}_before`,
        `ALTER DATABASE ${copy} RENAME TO ${name}`,
      ),
    whileAway,
  };
}
