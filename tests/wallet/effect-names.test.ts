import { beforeEach, expect, test } from 'bun:test';
import type { IdempotencyStore, KeyScope } from '../../src/store/ports.ts';
import { keyedNames, randomNames } from '../../src/wallet/session/effect-names.ts';
import { throwing } from '../support/rejection.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { CLIENT, WALLET } from '../support/store-steps.ts';

const SCOPE: KeyScope = { walletId: WALLET, caller: CLIENT, key: 'k' };
const identity = (fill: number) =>
  ({ secret: new Uint8Array(32).fill(fill) }) as Parameters<typeof keyedNames>[2]['identity'];

let written: unknown[];
let keys: IdempotencyStore;
beforeEach(() => {
  written = [];
  keys = {
    name: async (scope: KeyScope, effect: object) => void written.push({ scope, ...effect }),
    unname: async (scope: KeyScope) => void written.push({ scope }),
  } as unknown as IdempotencyStore;
});

const names = ({ scope = SCOPE, effect = null as string | null, store = 1, seal = 2 } = {}) =>
  keyedNames(scope, effect, {
    identity: identity(store),
    sealKey: new Uint8Array(32).fill(seal),
    keys,
  });
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('without a key every name is another, and nothing is kept', async () => {
  expect(randomNames.isKeyed).toBe(false);
  expect(randomNames.bytes('preimage')).toHaveLength(32);
  expect(hexOf(randomNames.bytes('preimage'))).not.toBe(hexOf(randomNames.bytes('preimage')));
  expect(await randomNames.kept('token', async () => 'drawn')).toBe('drawn');
  expect(randomNames.earlier('token')).toBeNull();
});

test('with a key a repeat gets the same names, one for each purpose', () => {
  expect(names().isKeyed).toBe(true);
  expect(names().bytes('preimage')).toHaveLength(32);
  expect(names().bytes('preimage')).toEqual(names().bytes('preimage'));
  expect(names().bytes('preimage')).not.toEqual(names().bytes('client'));
});

test('another wallet, caller, key, store or credential has other names', () => {
  const all = [
    names(),
    names({ scope: { ...SCOPE, walletId: 'cd'.repeat(32) } }),
    names({ scope: { ...SCOPE, caller: 'owner' } }),
    names({ scope: { ...SCOPE, key: 'l' } }),
    names({ store: 3 }),
    names({ seal: 3 }),
  ].map((one) => hexOf(one.bytes('preimage')));
  expect(new Set(all).size).toBe(all.length);
});

test('parts of a scope that run together do not make the same name', () => {
  const scopes = [
    { ...SCOPE, caller: 'a', key: 'bc' },
    { ...SCOPE, caller: 'ab', key: 'c' },
    { ...SCOPE, caller: 'a","b', key: 'c' },
  ];
  const all = scopes.map((scope) => hexOf(names({ scope }).bytes('channel')));
  expect(new Set(all).size).toBe(3);
});

test('what is drawn is kept in the key’s row before it is used, and drawn once', async () => {
  const one = names();
  const { index } = samplePayment(1);
  let draws = 0;
  const draw = async () => `drawn ${++draws}`;
  expect(await one.kept('withdrawal', draw, index)).toBe('drawn 1');
  expect(await one.kept('withdrawal', draw, index)).toBe('drawn 1');
  expect(written).toEqual([{ scope: SCOPE, json: '{"withdrawal":"drawn 1"}', index }]);
});

test('a later name is kept beside the earlier ones', async () => {
  const one = names();
  await one.kept('token', async () => '1');
  await one.kept('handed over', async () => '2');
  expect(written.at(-1)).toMatchObject({ json: '{"token":"1","handed over":"2"}', index: null });
});

test('a repeat goes on with what an earlier run has kept, and draws nothing', async () => {
  const again = names({ effect: '{"token":"1"}' });
  expect([again.earlier('token'), again.earlier('handed over')]).toEqual(['1', null]);
  const drawn = await again.kept('token', async () => {
    throw new Error('drawn anew');
  });
  expect(drawn).toBe('1');
  expect(written).toEqual([]);
});

test('what could not be kept is not used', async () => {
  keys = { name: () => Promise.reject(new Error('disk full')) } as unknown as IdempotencyStore;
  expect(await throwing(names().kept('token', async () => '1'))).toThrow('disk full');
});

test('an effect that did not happen is taken back by its key', async () => {
  await names().forget();
  expect(written).toEqual([{ scope: SCOPE }]);
});
