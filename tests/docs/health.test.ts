import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeIn, ROOT, rowsOf } from '../support/pages.ts';

/** The files in which the sentences of health stand. */
const FILES = [
  'src/app/data-care.ts',
  'src/app/health.ts',
  'src/app/unfit-rows.ts',
  'src/config/database.ts',
  'src/config/file-access.ts',
  'src/config/secrets.ts',
  'src/config/unknown-names.ts',
  'src/nodes/cln/index.ts',
  'src/nodes/sandbox/index.ts',
  'src/nodes/remote/place/place.ts',
  'src/nodes/remote/place/places.ts',
  'src/store/postgres/ownership.ts',
  'src/wallet/budget/store-guard.ts',
];
/** The words of LND's standing, which are put together to a sentence. */
const STANDINGS = ['is locked', 'has no wallet yet', 'is starting or stopping'];

/** Sentences in these files that are errors or lines of the log, and never health, by how they begin; … is a value. */
const NOT_HEALTH = [
  'The files of the data directory are back',
  '… could not be checked',
  'A row of the database is not',
  '… Until then',
  'The marker file of the database cannot be written',
  'The wallet owner confirms',
  'Another sidecar has taken over',
  'The database is in use by',
  'The database has lost the row',
  'The wallet of the root seed is not open yet',
  'A root seed controls no Core Lightning',
  'The sandbox has no configured credentials',
  '… and …',
  '… names a file',
  '… needs',
  '… …',
  'These node credentials are not configured',
  'The configured … is unusable',
  'No configured node holds this wallet',
];

/** A text in quotes that ends as a sentence, or with the sentence that follows every one about a restored store. */
const SENTENCE = /`((?:[^`\\]|\\.)*(?:\.|\$\{NEXT\}))`|'([^'\n]*\.)'|"([^"\n]*\.)"/g;

const sources = FILES.map((file) => readFileSync(join(ROOT, file), 'utf8'));
const sentences = sources
  .map((text) => text.replace(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, ''))
  .flatMap((text) => [...text.matchAll(SENTENCE)].map(([, a, b, c]) => a ?? b ?? c ?? ''))
  .map((text) => text.replace(/\$\{[^}]*\}/g, '…'))
  .filter((sentence) => sentence.includes(' ') && !/^\.{1,2}\//.test(sentence));
const told = sentences.filter((one) => !NOT_HEALTH.some((begin) => one.startsWith(begin)));
const words = rowsOf('docs/operations.md', 'Health').flatMap(([cell]) => codeIn(cell));

test('the table of health has every sentence that health can say', () => {
  expect(told.filter((sentence) => !words.some((one) => sentence.includes(one)))).toEqual([]);
  expect(told.length).toBeGreaterThan(25);
});

test('the table of health has words of the code alone', () => {
  const standing = readFileSync(join(ROOT, 'src/nodes/lnd/reads/standing.ts'), 'utf8');
  const known = (one: string) =>
    STANDINGS.includes(one) ? standing.includes(`'${one}'`) : told.some((it) => it.includes(one));
  expect(words.filter((one) => !known(one))).toEqual([]);
  expect(NOT_HEALTH.filter((begin) => !sentences.some((one) => one.startsWith(begin)))).toEqual([]);
});
