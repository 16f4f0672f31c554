import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileUnusable } from './file-problem.ts';
import { createPrivateFile, nextOf, replaceDurably } from './replace-file.ts';

/** The content of a marker: the store that it belongs to, and the newest advance of that store's counter. */
export interface Mark {
  /** Hex. */
  readonly storeId: string;
  readonly count: number;
  /** The random word of that advance, in hex; null in a marker of a version that drew none. */
  readonly word: string | null;
  /** Present where the rows of the store are signed: one that is not signed was changed or replaced then. */
  readonly isSigned?: true;
}

/**
 * A file outside the database that holds the newest advance of the database's counter. A database that has not come
 * that far, or has another word in that place, was restored from a backup (docs/decisions.md 69, 145).
 */
export interface Marker {
  /** Path of the file; null for a marker in memory. */
  readonly path: string | null;
  /** Set when the file had to be put inside the data directory, where restoring a backup replaces it too. */
  readonly warning: string | null;
  /** Returns what was last written; null when nothing was. Throws {@link MarkerUnreadable}. */
  read(): Mark | null;
  /**
   * Resolves when this count or a higher one of the same store is durable. Writes run in order, and writes that wait
   * are joined into the newest; the count of one store never decreases. Rejects when the file cannot be written.
   */
  write(mark: Mark): Promise<void>;
}

/** A marker file that does not hold a marker. */
export class MarkerUnreadable extends Error {
  override readonly name = 'MarkerUnreadable';
}

interface MarkerPlace {
  /** Directory, or `:memory:`. */
  readonly dataDir: string;
  /** The configured file; null for `<data-dir>.marker`, or `<data-dir>/marker` where that cannot be written. */
  readonly markerPath: string | null;
}

/** Opens the marker of an existing data directory. Throws FileUnusable when its file cannot be written. */
export function openMarker({ dataDir, markerPath }: MarkerPlace): Marker {
  if (dataDir === ':memory:') return memoryMarker();
  const beside = markerPath ?? `${resolve(dataDir)}.marker`;
  const problem = writeProblem(beside);
  if (problem === null) {
    const inside = join(dataDir, 'marker');
    // A marker inside is read until one beside exists, for instance after the data directory was moved.
    return fileMarker(beside, markerPath === null ? [beside, inside] : [beside], null);
  }
  // An existing or configured marker must not be replaced by another one silently.
  if (markerPath !== null || existsSync(beside)) {
    throw fileUnusable(beside, problem, 'name another file with --marker-path');
  }
  const inside = join(dataDir, 'marker');
  const insideProblem = writeProblem(inside);
  if (insideProblem !== null) {
    throw fileUnusable(inside, insideProblem, 'name another file with --marker-path');
  }
  return fileMarker(
    inside,
    [inside],
    `${beside} cannot be written. So the marker, which shows that a database was restored, is ${inside}, and restoring the data directory would replace it too: name a file outside with --marker-path.`,
  );
}

function fileMarker(path: string, places: readonly string[], warning: string | null): Marker {
  const read = () => {
    const place = places.find((candidate) => existsSync(candidate));
    return place === undefined ? null : readMark(place);
  };
  return {
    path,
    warning,
    read,
    write: orderedWrites(currentOf(read), (mark) => replace(path, mark)),
  };
}

function memoryMarker(): Marker {
  let current: Mark | null = null;
  const read = () => current;
  const write = orderedWrites(null, async (mark) => {
    current = mark;
  });
  return { path: null, warning: null, read, write };
}

/** Returns the durable mark. A file that holds none counts as empty here; `read` throws for it. */
function currentOf(read: () => Mark | null): Mark | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Runs one write at a time. Writes that are requested meanwhile share the next one. */
function orderedWrites(
  durable: Mark | null,
  store: (mark: Mark) => Promise<void>,
): (mark: Mark) => Promise<void> {
  let done = durable;
  let running: Promise<void> | null = null;
  let next: { mark: Mark; written: Promise<void> } | null = null;
  const start = async (): Promise<void> => {
    const job = next;
    next = null;
    if (job === null || covers(done, job.mark)) return;
    await store(job.mark);
    done = job.mark;
  };
  return (mark) => {
    if (next !== null) {
      if (!covers(next.mark, mark)) next.mark = mark;
      return next.written;
    }
    const before = running ?? Promise.resolve();
    // A failed write rejects only for its own callers; the next write runs all the same.
    const written = before.then(start, start);
    next = { mark, written };
    running = written;
    return written;
  };
}

function covers(durable: Mark | null, { storeId, count }: Mark): boolean {
  return durable !== null && durable.storeId === storeId && durable.count >= count;
}

function readMark(path: string): Mark {
  const problem = `${path} does not hold a marker: put back its last good version, or remove it if the database is known to be the newest.`;
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new MarkerUnreadable(problem, { cause: error });
  }
  const { storeId, count, word = null } = (found ?? {}) as Partial<Record<keyof Mark, unknown>>;
  const valid =
    isHex(storeId) &&
    (word === null || isHex(word)) &&
    typeof count === 'number' &&
    Number.isSafeInteger(count) &&
    count >= 0;
  if (!valid) throw new MarkerUnreadable(problem);
  return {
    storeId,
    count,
    word,
    ...((found as { signed?: unknown }).signed === true && { isSigned: true }),
  };
}

function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[0-9a-f]{2})+$/.test(value);
}

async function replace(path: string, { storeId, count, word, isSigned }: Mark): Promise<void> {
  const mark = { storeId, count, word: word ?? undefined, signed: isSigned };
  await replaceDurably(path, `${JSON.stringify(mark)}\n`);
}

/** Returns why a file cannot be replaced here; null when it can. Writes to find out: permissions alone do not tell. */
function writeProblem(path: string): unknown {
  const temporary = nextOf(path);
  try {
    rmSync(temporary, { force: true });
    createPrivateFile(temporary, '');
    rmSync(temporary, { force: true });
    return null;
  } catch (error) {
    return error;
  }
}
