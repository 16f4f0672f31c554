import { z } from 'zod';
import type { Log } from '../../../lib/log.ts';

/** How many unreadable rows are logged. A node of an unknown version may have nothing but such rows. */
const MOST_LOGGED = 1000;

const PLAIN = /^[0-9A-Za-z+/=_-]{1,64}$/;

/** Reads rows one by one. One that cannot be read is left out and logged once, so that it hides no others. */
export class OddRows {
  readonly #title: string;
  readonly #identities: readonly string[];
  readonly #logged = new Set<string>();

  /** `title` is what people call the node; `identities` are the fields that name a row and are no secret. */
  constructor(title: string, identities: readonly string[]) {
    this.#title = title;
    this.#identities = identities;
  }

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
    const identity = identityOf(row, this.#identities);
    const key = JSON.stringify(identity);
    if (this.#logged.has(key) || this.#logged.size >= MOST_LOGGED) return;
    this.#logged.add(key);
    // The error itself may repeat what stands in the row.
    const issues = error instanceof z.ZodError ? error.issues : [];
    const title = this.#title;
    log.warn(
      `${title} shows a payment that cannot be read: it is left out. Check the version of ${title}.`,
      { ...identity, fields: [...new Set(issues.map(({ path }) => path.join('.')))] },
    );
  }
}

function identityOf(row: unknown, identities: readonly string[]): Record<string, string> {
  const fields = typeof row === 'object' && row !== null ? (row as Record<string, unknown>) : {};
  return Object.fromEntries(
    identities.flatMap((name) => {
      const value = fields[name];
      return typeof value === 'string' && PLAIN.test(value) ? [[name, value]] : [];
    }),
  );
}
