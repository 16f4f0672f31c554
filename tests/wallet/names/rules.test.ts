import { describe, expect, test } from 'bun:test';
import type { NameRecord } from '../../../src/store/ports.ts';
import { decideClaim, isUpdatable, type NameClaim } from '../../../src/wallet/names/rules.ts';
import { nameRecord } from '../../contracts/store/names.ts';
import { WALLET } from '../../support/store-steps.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2023, 10, 14);
const OTHER = 'cd'.repeat(32);

/** A claim of `nakamoto` by a wallet with enough money, unless `change` says otherwise. */
function claim(
  change: Partial<NameClaim> = {},
  standing: { current?: NameRecord; holder?: NameRecord } = {},
): NameRecord {
  const wanted = {
    walletId: WALLET,
    nodeKind: 'lnd',
    username: 'nakamoto',
    domain: 'example.com',
    balanceMsat: 10_000_000n,
    offer: null,
    nowMs: START,
    ...change,
  };
  return decideClaim(wanted, { current: null, holder: null, ...standing });
}

const refusal = (message: string) =>
  expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) });
const current = nameRecord({ windowAtMs: START });

describe('a claim', () => {
  test('gives an unclaimed wallet the name, its offer, and 24 hours to change it', () => {
    const name = claim({ offer: 'lno1' });
    expect(name).toEqual({
      walletId: WALLET,
      nodeKind: 'lnd',
      username: 'nakamoto',
      offer: 'lno1',
      windowAtMs: START,
    });
    expect(isUpdatable(name, START + DAY - 1)).toBe(true);
    expect(isUpdatable(name, START + DAY)).toBe(false);
  });

  test('needs 10,000 sats in all, and says how many are missing', () => {
    expect(() => claim({ balanceMsat: 9_999_000n })).toThrow(refusal('receive 1 sats more'));
  });

  test('of a name that another wallet has is refused', () => {
    const holder = nameRecord({ walletId: OTHER, username: 'nakamoto' });
    expect(() => claim({}, { holder })).toThrow(refusal('nakamoto@example.com is taken'));
  });

  test('of the present name changes nothing, whatever balance and time are', () => {
    const asked = { username: current.username, balanceMsat: 0n, nowMs: START + 2 * DAY };
    expect(claim(asked, { current, holder: current })).toBe(current);
  });

  test('within 24 hours of the first changes the name, and does not make the 24 hours longer', () => {
    const changed = claim({ nowMs: START + DAY - 1 }, { current });
    expect(changed).toMatchObject({ username: 'nakamoto', windowAtMs: START });
    expect(() => claim({ nowMs: START + DAY }, { current })).toThrow(refusal('is frozen'));
  });

  test('after 90 days of freeze changes the name whenever, and opens another 24 hours', () => {
    const end = START + 91 * DAY;
    expect(() => claim({ nowMs: end - 1 }, { current })).toThrow(
      refusal('satoshi is frozen; change it after 2024-02-13T00:00:00.000Z'),
    );
    expect(claim({ nowMs: end }, { current }).windowAtMs).toBe(end);
    expect(isUpdatable(current, end + 300 * DAY)).toBe(true);
    const late = claim({ nowMs: end + 300 * DAY }, { current });
    expect(isUpdatable(late, end + 301 * DAY - 1)).toBe(true);
    expect(isUpdatable(late, end + 301 * DAY)).toBe(false);
  });
});
