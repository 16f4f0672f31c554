import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { useWriteAheadLog } from '../../src/lib/databases/write-ahead-log.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

const folder = temporaryFolder('log');
afterAll(() => removeFolder(folder));

const MB = 1024 * 1024;

test('commits stay in the log until it has 16 MB, and are in the file then', () => {
  const path = join(folder, 'log.sqlite');
  const db = new Database(path);
  useWriteAheadLog(db);
  db.run('CREATE TABLE note (bytes BLOB NOT NULL)');
  const write = db.prepare('INSERT INTO note (bytes) VALUES (?)');
  for (let mb = 0; mb < 14; mb++) write.run(new Uint8Array(MB));
  expect(statSync(path).size).toBeLessThan(MB);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(14 * MB);
  for (let mb = 14; mb < 18; mb++) write.run(new Uint8Array(MB));
  expect(statSync(path).size).toBeGreaterThan(15 * MB);
  // The log begins anew, in at most as much as it is cut to.
  for (let mb = 0; mb < 10; mb++) write.run(new Uint8Array(MB));
  expect(statSync(`${path}-wal`).size).toBeLessThan(20 * MB);
  expect(db.query('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  db.close();
});
