import { stat } from 'node:fs/promises';
import { codeOf } from './error-code.ts';

/** Notices that files which this process has open were removed or replaced. */
export interface FileWatch {
  /** The paths that do not lead to the open files any more, as last seen. */
  lost(): readonly string[];
  stop(): void;
}

interface FileWatchOptions {
  readonly paths: readonly string[];
  readonly everyMs: number;
  /** Called when the lost files are others than before. */
  readonly onChange: (lost: readonly string[]) => void;
}

/** Remembers which files the paths lead to now, and looks again every `everyMs`: one `stat` for each file. */
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
        // A stat that failed for another reason, such as a network disk that is away, tells nothing.
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

/** Device and inode; null where there is nothing. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error))) return null;
    throw error;
  }
}
