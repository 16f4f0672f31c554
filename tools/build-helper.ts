import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';

/**
 * Builds the program that holds the LDK node into dist/ldk-helper.bin, where the next build of the binary takes it from;
 * with "test", runs its own tests instead. What cargo compiled is kept in the user's cache by the hash of the lock file,
 * since the first time takes minutes.
 */
if (Bun.which('cargo') === null) {
  console.error('Building the LDK node needs cargo: install Rust from https://rustup.rs.');
  process.exit(1);
}
const lock = createHash('sha256')
  .update(await readFile('helper/Cargo.lock'))
  .digest('hex');
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const target = join(cache, 'wallet-sidecar', `helper-${lock.slice(0, 16)}`);
const isTest = process.argv[2] === 'test';
await $`nice -n 19 cargo ${isTest ? 'test' : 'build'} --release --locked`
  .cwd('helper')
  .env({ ...process.env, CARGO_TARGET_DIR: target });
if (isTest) process.exit(0);
await mkdir('dist', { recursive: true });
const part = 'dist/ldk-helper.bin.part';
await copyFile(join(target, 'release', 'ldk-helper'), part);
await rename(part, 'dist/ldk-helper.bin');
console.log('built dist/ldk-helper.bin');
