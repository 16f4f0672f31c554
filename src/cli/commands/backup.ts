import type { Flags } from '../../config/sources.ts';
import { argument, local } from '../command.ts';
import type { AddCommand } from '../io.ts';
import { jsonFlag } from '../options.ts';
import { settingsWord } from '../setting-flag.ts';

/** Copies the data of a sidecar to or from a directory. Resolves to sentences that say what was done. */
export type CopyData = (dir: string, flags: Flags) => Promise<string>;

const flags = settingsWord(['dataDir', 'markerPath', 'databaseUrl', 'databaseUrlPath']);

/** Adds `backup`, which copies what the data directory keeps while the sidecar runs. */
export const addBackup = (backup: CopyData) =>
  copying('backup', backup, {
    about:
      'Copy the databases of the data directory into a new directory, while the sidecar runs or not. It says what else to keep.',
    dir: argument('<dir>', 'directory to make'),
    example: 'backup /mnt/backups/2026-11-23',
  });

/** Adds `restore`, which puts such a copy into an empty data directory. */
export const addRestore = (restore: CopyData) =>
  copying('restore', restore, {
    about:
      'Check a backup, put it into an empty data directory, and say what the sidecar will do with it.',
    dir: argument('<dir>', 'directory that "backup" made'),
    example: 'restore /mnt/backups/2026-11-23 --data-dir /var/lib/wallet-sidecar',
  });

function copying(
  name: string,
  copy: CopyData,
  { about, dir, example }: { about: string; dir: ReturnType<typeof argument>; example: string },
): AddCommand {
  const spec = { about, examples: [example], words: { dir, flags, json: jsonFlag } };
  return local(name, spec, async ({ dir: place, flags, json }, { io }) => {
    const done = await copy(String(place), flags);
    io.stdout(json ? JSON.stringify({ done }) : done);
  });
}
