import { ownDataDir } from '../../src/lib/files/data-dir.ts';

// Owns the directory of its first argument until it is killed. Prints "owned", or the message of the error.
const [dir = '', url] = process.argv.slice(2);
try {
  const owned = ownDataDir(dir);
  if (url !== undefined) owned.noteUrl(url);
  console.log('owned');
  setInterval(() => Bun.gc(true), 50);
} catch (error) {
  console.log((error as Error).message);
}
