import { expect, test } from 'bun:test';
import { METHODS } from '../../src/nodes/lnd/reads/grants.ts';
import { pageText, rowsOf } from '../support/pages.ts';

const PAGE = 'docs/lnd.md';
/** What calls need that no client's grant is about: listing tokens, and signing at a new place. */
const OF_THE_SIDECAR = ['macaroon:read', 'message:write'];
const NEEDED = [...new Set<string>([...Object.values(METHODS).flat(), ...OF_THE_SIDECAR])];

test('the line that bakes a macaroon has exactly what the calls to LND need', () => {
  const [, baked = ''] = /^lncli bakemacaroon --save_to \S+ (.+)$/m.exec(pageText(PAGE)) ?? [];
  expect(baked.split(' ').toSorted()).toEqual(NEEDED.toSorted());
});

test('the table of macaroon permissions names each of them', () => {
  const cells = rowsOf(PAGE, 'Macaroon permissions').map(([, permissions = '']) => permissions);
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect([...new Set(named)].toSorted()).toEqual(NEEDED.toSorted());
});
