/** `npm run bench` measures this tree; with `--compare REV` it compares this tree with another commit. */
const at = process.argv.indexOf('--compare');
if (at < 0) {
  await import('./index.ts');
} else {
  const revision = process.argv[at + 1];
  if (revision === undefined) throw new Error('--compare needs a commit, such as HEAD~1.');
  const { compareWith } = await import('./compare/index.ts');
  await compareWith(revision);
}

export {};
