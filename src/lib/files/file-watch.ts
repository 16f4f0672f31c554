import { stat } from 'node:fs/promises';
import { codeOf } from '../error-code.ts';

/** Notices when files that this process has open are removed or replaced (docs/decisions.md 87). */
interface FileWatch {
  /** Returns the paths that no longer lead to the open files, as of the last check. */
  lost(): readonly string[];
  stop(): void;
}

interface FileWatchOptions {
  readonly paths: readonly string[];
  readonly everyMs: number;
  /** Called when the list of lost files has changed. */
  readonly onChange: (lost: readonly string[]) => void;
}

/** Stores which files the paths lead to now, and checks them every `everyMs` with one `stat` for each file. */
export async function watchFiles(options: FileWatchOptions): Promise<FileWatch> {
  const { paths, everyMs, onChange } = options;
  const known = new Map<string, string>();
  for (const path of paths) {
    const found = await identityOf(path);
    if (found !== null) known.set(path, found);
  }
  let lost: readonly string[] = [];
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      const now: string[] = [];
      for (const [path, identity] of known) {
        // If stat fails for another reason, such as a disconnected network disk, the file is not counted as lost.
        const found = await identityOf(path).catch(() => identity);
        if (found !== identity) now.push(path);
      }
      const changed = now.join('\0') !== lost.join('\0');
      lost = now;
      if (changed) onChange(now);
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  return { lost: () => lost, stop: () => clearInterval(timer) };
}

/** Returns device and inode; null where no file exists. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error))) return null;
    throw error;
  }
}
