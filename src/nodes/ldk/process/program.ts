import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { embeddedFiles } from 'bun';
import { fileUnusable } from '../../../lib/files/file-problem.ts';
import { refused } from '../../../model/errors.ts';

/** The name of the helper's program in the binary and, before that, in the folder of what was built. */
const NAME = 'ldk-helper';
/** For its owner alone. */
const MODE = 0o700;

/** The helper's program, where this sidecar has one. */
export interface HelperProgram {
  /** Hex SHA-256 of the program. */
  readonly measurement: string;
  /**
   * Returns the path of its file, which can be run. A file that is missing, or is not what was measured, is written
   * anew. Throws {@link FileUnusable}.
   */
  readonly path: () => Promise<string>;
}

/**
 * The helper is copied out of this binary into the data directory, since a program inside the binary cannot be run from
 * there; copies of other versions are removed. Throws `refused` for a build without a helper and where no program may
 * be run in the data directory, and {@link FileUnusable}.
 */
export async function helperProgram(dataDir: string): Promise<HelperProgram> {
  const measurement = hashOf(await helperBytes());
  const file = join(dataDir, 'bin', `${NAME}-${measurement.slice(0, 16)}`);
  const path = async () => {
    try {
      if (!(await isProgram(file, measurement))) await write(file, await helperBytes());
      return file;
    } catch (error) {
      throw fileUnusable(file, error, 'move the data directory');
    }
  };
  await path();
  await access(file, constants.X_OK).catch(() => {
    throw refused(
      `${file} may not be run, as on a disk that is mounted with noexec: mount it without, or name a --data-dir elsewhere.`,
    );
  });
  const folder = dirname(file);
  const others = (await readdir(folder)).filter((name) => name.startsWith(`${NAME}-`));
  for (const name of others) if (join(folder, name) !== file) await rm(join(folder, name));
  return { measurement, path };
}

async function isProgram(path: string, measurement: string): Promise<boolean> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null || hashOf(bytes) !== measurement) return false;
  return ((await stat(path)).mode & 0o777) === MODE;
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A crash in the middle must not leave half a program under its name.
  const part = `${path}.part`;
  await writeFile(part, bytes);
  await chmod(part, MODE);
  await rename(part, path);
}

async function helperBytes(): Promise<Uint8Array> {
  const embedded = embeddedFiles.find((file) => (file as File).name.includes(NAME));
  if (embedded) return new Uint8Array(await embedded.arrayBuffer());
  const built = Bun.file(join(import.meta.dir, '../../../../dist', `${NAME}.bin`));
  if (await built.exists()) return new Uint8Array(await built.arrayBuffer());
  throw refused(
    process.platform === 'win32'
      ? 'The LDK node does not run on Windows yet: use wallet-sidecar on Linux or macOS.'
      : 'This build of wallet-sidecar has no LDK node: install a release, or build it with "npm run build:helper" and "npm run build".',
  );
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
