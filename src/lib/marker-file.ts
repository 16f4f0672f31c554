import { existsSync, readFileSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileUnusable } from './file-problem.ts';
import { createPrivateFile } from './replace-file.ts';

/** What a marker holds: which store it belongs to, and how far that store has counted. */
export interface Mark {
  /** Hex. */
  readonly storeId: string;
  readonly count: number;
}

/** A file outside the database that counts along with it: a database that is behind its marker was restored. */
export interface Marker {
  /** Where it is; null in memory. */
  readonly path: string | null;
  /** Set when it had to be put inside the data directory, where a restored backup brings its own marker along. */
  readonly warning: string | null;
  /** What was last written; null when nothing was. Throws {@link MarkerUnreadable}. */
  read(): Mark | null;
  /**
   * Resolves when at least this count is durable. Writes are ordered and joined, the newest wins; of one store the
   * count never goes back. Rejects when the file cannot be written.
   */
  write(mark: Mark): Promise<void>;
}

/** A marker file whose content is none. */
export class MarkerUnreadable extends Error {
  override readonly name = 'MarkerUnreadable';
}

/** Where a marker may be. */
export interface MarkerPlace {
  /** Directory, or `:memory:`. */
  readonly dataDir: string;
  /** The configured file; null is `<data-dir>.marker`, or else `<data-dir>/marker`. */
  readonly markerPath: string | null;
}

/** Opens the marker of a data directory that exists. Throws FileUnusable when no place for it can be written. */
export function openMarker({ dataDir, markerPath }: MarkerPlace): Marker {
  if (dataDir === ':memory:') return memoryMarker();
  const beside = markerPath ?? `${resolve(dataDir)}.marker`;
  const problem = writeProblem(beside);
  if (problem === null) {
    const inside = join(dataDir, 'marker');
    // One that was written inside counts until there is one beside, for instance after a move.
    return fileMarker(beside, markerPath === null ? [beside, inside] : [beside], null);
  }
  // A marker that exists must not be put aside in silence.
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
    `${beside} cannot be written, so the file that shows a restored database is ${inside} and would be restored along with it: name a file outside with --marker-path.`,
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

/** What is durable already; content that is none is replaced by the next write, if its reader decides to write. */
function currentOf(read: () => Mark | null): Mark | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** One write at a time; those asked for meanwhile share the next one. */
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
    // A failed write is the failure of those who asked for it, not of the next one.
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
  const problem = `${path} does not hold a marker: put back the file from before, or remove it if the database is known to be the newest.`;
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new MarkerUnreadable(problem, { cause: error });
  }
  const { storeId, count } = (found ?? {}) as Partial<Record<keyof Mark, unknown>>;
  const valid =
    typeof storeId === 'string' &&
    /^(?:[0-9a-f]{2})+$/.test(storeId) &&
    typeof count === 'number' &&
    Number.isSafeInteger(count) &&
    count >= 0;
  if (!valid) throw new MarkerUnreadable(problem);
  return { storeId, count };
}

/**
 * Writes a second file and renames it over the first, rather than two slots in one file: the rename is one step, so
 * that a kill at any instruction leaves the old mark or the new one, and the file stays a line that people can read.
 * Both the file and the rename are on the disk when this resolves. A left-over second file is written anew.
 */
async function replace(path: string, { storeId, count }: Mark): Promise<void> {
  const temporary = temporaryOf(path);
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ storeId, count })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  // Windows makes renames durable by itself and cannot open a directory.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Why a file cannot be replaced here; null when it can, which is tried as a permission alone does not tell. */
function writeProblem(path: string): unknown {
  const temporary = temporaryOf(path);
  try {
    rmSync(temporary, { force: true });
    createPrivateFile(temporary, '');
    rmSync(temporary, { force: true });
    return null;
  } catch (error) {
    return error;
  }
}

function temporaryOf(path: string): string {
  return `${path}.new`;
}
