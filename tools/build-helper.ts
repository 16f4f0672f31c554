import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { $ } from 'bun';
import { cratesOfHelper } from '../packaging/helper/crates.ts';
import { helperNotices } from '../packaging/helper/notices.ts';
import {
  HELPER_NOTICES,
  HELPER_PLATFORMS,
  helperFile,
  OLDEST_GLIBC,
  OLDEST_MACOS,
} from '../packaging/helper/targets.ts';

/**
 * Builds the program that holds the LDK node, and the notices of what is linked into it, into dist, where the next build
 * of the binary takes them from; with "test", runs its own tests instead. With `--platform linux-arm64` it is the program
 * of a release for that platform: those for Linux are built by zig on any machine, those for macOS on a Mac. What cargo
 * compiled is kept in the user's cache by the hash of the lock file, since the first time takes minutes.
 */
const FOLDER = 'helper';
const args = process.argv.slice(2);
const isTest = args[0] === 'test';
const platform = args[0] === '--platform' ? (args[1] ?? '') : null;
const target = platform === null ? null : HELPER_PLATFORMS.get(platform);
if (target === undefined) {
  stop(
    `There is no LDK node for ${platform}: name one of ${[...HELPER_PLATFORMS.keys()].join(', ')}.`,
  );
}
if (Bun.which('cargo') === null) {
  stop('Building the LDK node needs cargo: install Rust from https://rustup.rs.');
}
const lock = createHash('sha256')
  .update(await readFile(join(FOLDER, 'Cargo.lock')))
  .digest('hex');
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const compiled = join(cache, 'wallet-sidecar', `helper-${lock.slice(0, 16)}`);
await cargo(target);
if (isTest) process.exit(0);

const file = join('dist', helperFile(platform));
const part = `${file}.part`;
await mkdir('dist', { recursive: true });
await copyFile(join(compiled, target ?? '', 'release', 'ldk-helper'), part);
// macOS runs a program alone whose signature fits.
if (target?.includes('darwin')) await $`codesign --force --sign - ${part}`;
await rename(part, file);
await writeFile(join('dist', HELPER_NOTICES), await helperNotices(await cratesOfHelper(FOLDER)));
console.log(`built ${file}`);

async function cargo(target: string | null): Promise<void> {
  const env = { ...process.env, CARGO_TARGET_DIR: compiled };
  const options = ['--release', '--locked'];
  if (target === null) {
    await $`nice -n 19 cargo ${isTest ? 'test' : 'build'} ${options}`.cwd(FOLDER).env(env);
    return;
  }
  // What is released must not name the folders of the machine that built it.
  const home = process.env.CARGO_HOME || join(homedir(), '.cargo');
  const names = [`${home}=/cargo`, `${resolve(FOLDER)}=/helper`];
  const released = {
    ...env,
    RUSTFLAGS: names.map((name) => `--remap-path-prefix=${name}`).join(' '),
    CFLAGS: names.map((name) => `-ffile-prefix-map=${name}`).join(' '),
    MACOSX_DEPLOYMENT_TARGET: OLDEST_MACOS,
  };
  if (target.includes('darwin')) {
    if (process.platform !== 'darwin') stop(`The LDK node for ${platform} is built on a Mac.`);
    await $`cargo build ${options} --target ${target}`.cwd(FOLDER).env(released);
    return;
  }
  if (Bun.which('cargo-zigbuild') === null) {
    stop(
      'Building the LDK node of a release needs zig: pip install --require-hashes --requirement packaging/helper/requirements.txt',
    );
  }
  const withGlibc = `${target}.${OLDEST_GLIBC}`;
  await $`nice -n 19 cargo zigbuild ${options} --target ${withGlibc}`.cwd(FOLDER).env(released);
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
