import { z } from 'zod';
import type { Log } from '../../lib/log.ts';

/** How many unreadable rows are logged. An LND of another kind may have nothing but such rows. */
const MOST_LOGGED = 1000;

/** Fields that name a row and are no secret. */
const IDENTITIES = ['add_index', 'r_hash', 'payment_index', 'payment_hash', 'tx_hash'] as const;
const PLAIN = /^[0-9A-Za-z+/=_-]{1,64}$/;

/**
 * Reads rows of LND's lists and streams one by one. A row that cannot be read is left out, so that it does not hide all
 * others, and is logged once.
 */
export class OddRows {
  readonly #logged = new Set<string>();

  /** What `use` makes of each row that can be read, in their order. */
  read<Row, Result>(
    rows: readonly unknown[],
    { shape, use, log }: { shape: z.ZodType<Row>; use: (row: Row) => Result; log: Log },
  ): Result[] {
    return rows.flatMap((row) => {
      try {
        return [use(shape.parse(row))];
      } catch (error) {
        this.#leaveOut(row, error, log);
        return [];
      }
    });
  }

  #leaveOut(row: unknown, error: unknown, log: Log): void {
    const identity = identityOf(row);
    const key = JSON.stringify(identity);
    if (this.#logged.has(key) || this.#logged.size >= MOST_LOGGED) return;
    this.#logged.add(key);
    // The error itself may repeat what stands in the row.
    const issues = error instanceof z.ZodError ? error.issues : [];
    log.warn('LND shows a payment that cannot be read: it is left out. Check the version of LND.', {
      ...identity,
      fields: [...new Set(issues.map(({ path }) => path.join('.')))],
    });
  }
}

function identityOf(row: unknown): Record<string, string> {
  const fields = typeof row === 'object' && row !== null ? (row as Record<string, unknown>) : {};
  return Object.fromEntries(
    IDENTITIES.flatMap((name) => {
      const value = fields[name];
      return typeof value === 'string' && PLAIN.test(value) ? [[name, value]] : [];
    }),
  );
}
