import { afterAll, expect, test } from 'bun:test';
import { careForData } from '../../src/app/data-care.ts';
import { openLog } from '../../src/lib/log.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';

const silent = openLog({ level: 'error', format: 'text', write: () => undefined });
const folder = temporaryFolder('data-care');
afterAll(() => removeFolder(folder));

test('a disk with less than 16 MiB of free space is a problem, as long as it has no more', async () => {
  let free = 16 * 1024 * 1024;
  const care = await careForData(folder, silent, () => free);
  expect(care.problems()).toEqual([]);
  free -= 1;
  expect(care.problems()).toEqual([expect.stringContaining(`The disk of ${folder} is full or`)]);
  free += 1;
  expect(care.problems()).toEqual([]);
  care.stop();
});

test('the free space is that of the disk', async () => {
  const care = await careForData(folder, silent);
  expect(care.problems()).toEqual([]);
  care.stop();
});

test('a disk that is full is told once in the log, as long as it is', async () => {
  const lines: string[] = [];
  const log = openLog({ level: 'warn', format: 'text', write: (line) => lines.push(line) });
  let free = 0;
  let looks = 0;
  const freeBytes = () => {
    looks += 1;
    return free;
  };
  const lookedAgain = async () => {
    const before = looks;
    await until(() => looks > before + 2);
  };
  const care = await careForData(folder, log, freeBytes, 5);
  await lookedAgain();
  expect(lines).toEqual([expect.stringContaining(`WARN  The disk of ${folder} is full or`)]);
  free = 2 ** 30;
  await lookedAgain();
  free = 0;
  await until(() => lines.length === 2);
  care.stop();
});
