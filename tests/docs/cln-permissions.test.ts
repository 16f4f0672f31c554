import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { PERMISSIONS } from '../../src/model/clients/permissions.ts';
import { grantOf } from '../../src/nodes/cln/reads/grants.ts';
import { codeIn, pageText, ROOT, rowsOf } from '../support/pages.ts';

const PAGE = 'docs/core-lightning.md';
/** A call of the connector, with the method as its first argument. */
const CALL = /\.(?:read|list|write|poll|begin)(?:<\w+>)?\(\s*'(\w+)'/g;

const [, inLine = ''] =
  /^lightning-cli createrune -k restrictions='(.+)' > \S+$/m.exec(pageText(PAGE)) ?? [];
const restrictions = JSON.parse(inLine) as string[][];
const allowed = restrictions.flat().map((one) => one.replace(/^method=/, ''));

test('the line that makes a rune allows exactly the methods that the connector calls', async () => {
  const called = new Set<string>();
  for (const file of new Glob('src/nodes/cln/**/*.ts').scanSync(ROOT)) {
    const text = await Bun.file(join(ROOT, file)).text();
    for (const [, method = ''] of text.matchAll(CALL)) called.add(method);
  }
  expect(allowed.toSorted()).toEqual([...called].toSorted());
});

test('the rune of the line is one restriction, and grants every permission', () => {
  expect(restrictions.length).toBe(1);
  const alternatives = allowed.map((value) => ({ field: 'method', condition: '=', value }));
  const grant = grantOf({ uniqueId: '1', restrictions: [alternatives] });
  expect(grant.served).toEqual([...PERMISSIONS]);
});

test('the table of the methods of a rune names each of them', () => {
  const named = rowsOf(PAGE, 'Methods of the rune').flatMap(([, methods = '']) => codeIn(methods));
  expect([...new Set(named)].toSorted()).toEqual(allowed.toSorted());
});
