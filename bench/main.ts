/**
 * `npm run bench` measures this tree, `--only lnd,cln` some parts of it. With `--write-docs` it makes
 * docs/performance.md of the results afterwards. With `--compare REV` it compares this tree with another commit.
 */
const valueAfter = (flag: string, example: string): string | null => {
  const at = process.argv.indexOf(flag);
  if (at < 0) return null;
  const value = process.argv[at + 1];
  if (value === undefined) throw new Error(`${flag} needs a value, such as ${example}.`);
  return value;
};

const revision = valueAfter('--compare', 'HEAD~1');
if (revision !== null) {
  const { compareWith } = await import('./compare/index.ts');
  await compareWith(revision);
} else {
  const { measureParts, RESULTS } = await import('./index.ts');
  await measureParts(valueAfter('--only', 'lnd,cln')?.split(',') ?? null);
  if (process.argv.includes('--write-docs')) {
    const { writeDocs } = await import('./write-docs.ts');
    writeDocs([RESULTS]);
  }
}

export {};
