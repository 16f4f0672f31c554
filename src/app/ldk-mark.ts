import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from '../config/sources.ts';
import { replaceDurably } from '../lib/files/replace-file.ts';
import { once } from '../lib/once.ts';
import { STATE_ROWS } from '../nodes/ldk/index.ts';
import type { ConnectorRows } from '../nodes/remote-kind.ts';

const shape = once(() => z.record(z.string(), z.record(z.string(), z.int().min(0))));

/**
 * Returns the rows of the LDK node's connector, where what they say of how far the node's state had come is kept in a
 * file beside the marker too. A copy of the data directory takes the rows back together with the state, but not that
 * file: what is read is the furthest of both. Throws {@link ConfigError} for a file that cannot be read.
 */
export function withLdkMark(rows: ConnectorRows, path: string): ConnectorRows {
  let marks = existsSync(path) ? readMarks(path) : {};
  return {
    async get(place, kind, key) {
      const kept = await rows.get(place, kind, key);
      return kind === STATE_ROWS ? furthest(kept, marks[place]) : kept;
    },
    async put(place, kind, key, value) {
      await rows.put(place, kind, key, value);
      if (kind !== STATE_ROWS) return;
      marks = shape().parse({ ...marks, [place]: furthest(value, marks[place]) });
      await replaceDurably(path, `${JSON.stringify(marks)}\n`);
    },
  };
}

type Numbers = Readonly<Record<string, number>>;

/** Returns the higher number of each name. */
function furthest(kept: unknown, marked: Numbers | undefined): unknown {
  if (marked === undefined || kept === null || kept === undefined) return kept ?? marked ?? null;
  const both = Object.entries(kept as Numbers).map(
    ([name, number]) => [name, Math.max(number, marked[name] ?? 0)] as const,
  );
  return Object.fromEntries(both);
}

function readMarks(path: string): Readonly<Record<string, Numbers>> {
  try {
    return shape().parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new ConfigError(
      `${path} cannot be read, by which an old state of the LDK node is noticed: put back its last good version, or remove it if the state in the data directory is known to be the newest.`,
      { cause },
    );
  }
}
