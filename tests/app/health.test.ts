import { expect, test } from 'bun:test';
import { health, outOfBudgets } from '../../src/app/health.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Flags } from '../../src/config/sources.ts';

const INDEX = `0001764000000000000-ln_${'ab'.repeat(32)}`;

function healthWith(flags: Flags): string {
  return health({
    config: loadConfig({ flags, env: {}, cwd: '/' }),
    nodes: { kind: 'sandbox', problems: () => [] },
    guard: { problem: () => null },
    data: { problems: () => [] },
    store: { problem: () => null },
    unproven: new Set([INDEX]),
    contradicted: new Set([INDEX]),
    rows: { problem: () => null },
    unfit: new Set<string>(),
    unreadable: new Set([INDEX]),
    relaysAway: () => [],
    hasBudgets: () => false,
    isTrialWalletReady: true,
  });
}

test('a payment without its proof is named to those who are the owner anyway, and to nobody under --require-auth', () => {
  expect(healthWith({})).toContain(`payment ${INDEX} as completed`);
  expect(healthWith({})).toContain(`row of payment ${INDEX} cannot be read`);
  const shown = healthWith({ 'require-auth': true });
  expect(shown).toContain('The node shows a payment as completed');
  expect(shown).toContain('than a payment can have');
  expect(shown).toContain('row of a payment cannot be read, so it stays pending');
  expect(shown).not.toContain('0001764');
  expect(shown).not.toContain('ab'.repeat(32));
});

test('budgets are told to bound no program of the same user where people, or root, have programs of it', () => {
  const config = loadConfig({ flags: { 'require-auth': true }, env: {}, cwd: '/' });
  const told = (uid: number | undefined, any = true) =>
    outOfBudgets({ config, hasBudgets: () => any }, uid) !== null;
  const first = process.platform === 'darwin' ? 500 : 1000;
  expect([0, first, 1001, 60_000].map((uid) => told(uid))).toEqual([true, true, true, true]);
  expect([1, first - 1, 60_001, 65_532].map((uid) => told(uid))).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(told(0, false)).toBe(false);
});
