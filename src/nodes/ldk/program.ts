import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedFiles } from 'bun';
import { refused } from '../../model/errors.ts';

/** The name of the helper's program in the binary and, before that, in the folder of what was built. */
const NAME = 'ldk-helper';

/** The helper's program, where this sidecar has one. */
export interface HelperProgram {
  /** Hex SHA-256 of the program. */
  readonly measurement: string;
  /** Its file, which can be run. */
  readonly path: string;
}

/**
 * Copies the helper out of this binary into the data directory, since a program inside the binary cannot be run from
 * there. A copy that is there and has the right hash is kept; those of other versions are removed, since each version
 * brings its own. Throws `refused` for a build without a helper, and where no program may be run in the data directory.
 */
export async function helperProgram(dataDir: string): Promise<HelperProgram> {
  const bytes = await helperBytes();
  const measurement = createHash('sha256').update(bytes).digest('hex');
  const folder = join(dataDir, 'bin');
  const path = join(folder, `${NAME}-${measurement.slice(0, 16)}`);
  if ((await hashOf(path)) !== measurement) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // A crash in the middle must not leave half a program under its name.
    const part = `${path}.part`;
    await writeFile(part, bytes, { mode: 0o700 });
    await rename(part, path);
  }
  await chmod(path, 0o700);
  await access(path, constants.X_OK).catch(() => {
    throw refused(
      `${path} may not be run, as on a disk that is mounted with noexec: mount it without, or name a --data-dir elsewhere.`,
    );
  });
  const others = (await readdir(folder)).filter((name) => name.startsWith(`${NAME}-`));
  for (const name of others) if (join(folder, name) !== path) await rm(join(folder, name));
  return { path, measurement };
}

async function helperBytes(): Promise<Uint8Array> {
  const embedded = embeddedFiles.find((file) => (file as File).name.includes(NAME));
  if (embedded) return new Uint8Array(await embedded.arrayBuffer());
  const built = Bun.file(join(import.meta.dir, '../../../dist', `${NAME}.bin`));
  if (await built.exists()) return new Uint8Array(await built.arrayBuffer());
  throw refused(
    process.platform === 'win32'
      ? 'The LDK node does not run on Windows yet: use wallet-sidecar on Linux or macOS.'
      : 'This build of wallet-sidecar has no LDK node: install a release, or build it with "npm run build:helper" and "npm run build".',
  );
}

async function hashOf(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null);
  return bytes && createHash('sha256').update(bytes).digest('hex');
}
