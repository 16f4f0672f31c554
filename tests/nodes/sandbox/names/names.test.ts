import { describe, expect, test } from 'bun:test';
import { decodeOffer } from '../../../../src/codecs/bolt12/index.ts';
import {
  claimUsername,
  humanBitcoinAddress,
  walletOfUsername,
  zoneText,
} from '../../../../src/nodes/sandbox/names/names.ts';
import { onchainWorld } from '../onchain/onchain-world.ts';

const DOMAIN = 'example.com';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function names() {
  const { world, wallet } = onchainWorld();
  const claim = (userPk: string, username: string, sats = 10_000) =>
    claimUsername(world, userPk, {
      username,
      domain: DOMAIN,
      balanceMsat: BigInt(sats) * 1000n,
    });
  const refusal = (userPk: string, username: string, message: string, sats?: number) =>
    expect(() => claim(userPk, username, sats)).toThrow(
      expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) }),
    );
  const current = (userPk: string) => humanBitcoinAddress(world, userPk, DOMAIN);
  return { world, wallet, claim, refusal, current };
}

describe('claimUsername', () => {
  test('gives an unclaimed wallet the name, an offer of its own, and 24 hours to change it', () => {
    const { wallet, claim, current } = names();
    const alice = wallet();
    expect(current(alice)).toBeNull();
    const record = claim(alice, 'alice-1');
    expect(record).toMatchObject({ username: 'alice-1', domain: DOMAIN, updatable: true });
    expect(decodeOffer(record.offer).description).toBe('alice-1@example.com');
    expect(current(alice)).toEqual(record);
  });

  test('needs 10,000 sats in all', () => {
    const { wallet, claim, refusal } = names();
    const alice = wallet();
    refusal(alice, 'alice-1', 'receive 1 sats more', 9_999);
    expect(claim(alice, 'alice-1', 10_000).username).toBe('alice-1');
  });

  test('refuses a name that another wallet has, until it is given up', () => {
    const { wallet, claim, refusal } = names();
    const [alice, bob] = [wallet(), wallet()];
    claim(alice, 'satoshi');
    refusal(bob, 'satoshi', 'is taken');
    claim(alice, 'nakamoto');
    expect(claim(bob, 'satoshi').username).toBe('satoshi');
  });

  test('allows changes within 24 hours of the claim, which do not make the window longer', () => {
    const { world, wallet, claim, refusal, current } = names();
    const alice = wallet();
    claim(alice, 'first-name');
    world.clock.advance(24 * HOUR - 1);
    expect(claim(alice, 'second-name')).toMatchObject({ username: 'second-name', updatable: true });
    world.clock.advance(1);
    expect(current(alice)?.updatable).toBe(false);
    refusal(alice, 'third-name', 'is frozen');
  });

  test('freezes for 90 days, then can be changed whenever, and for 24 hours after that change', () => {
    const { world, wallet, claim, refusal, current } = names();
    const alice = wallet();
    claim(alice, 'first-name');
    world.clock.advance(91 * DAY - 1);
    refusal(alice, 'second-name', 'is frozen; change it after 2024-02-13T22:13:20.000Z');
    world.clock.advance(1);
    expect(current(alice)?.updatable).toBe(true);
    world.clock.advance(300 * DAY);
    expect(current(alice)?.updatable).toBe(true);
    claim(alice, 'second-name');
    world.clock.advance(23 * HOUR);
    claim(alice, 'third-name');
    world.clock.advance(HOUR);
    refusal(alice, 'fourth-name', 'is frozen');
  });

  test('asking for the name the wallet has changes nothing, even while frozen', () => {
    const { world, wallet, claim } = names();
    const alice = wallet();
    const record = claim(alice, 'alice-1');
    world.clock.advance(2 * DAY);
    expect(claim(alice, 'alice-1', 0)).toEqual({ ...record, updatable: false });
  });

  test('each name has its own offer', () => {
    const { wallet, claim } = names();
    const alice = wallet();
    expect(claim(alice, 'first-name').offer).not.toBe(claim(alice, 'second-name').offer);
  });
});

describe('zoneText', () => {
  test('is the BIP 353 record of a claimed name, whatever the case and final dot', () => {
    const { world, wallet, claim } = names();
    const alice = wallet();
    const { offer } = claim(alice, 'alice-1');
    for (const name of [
      'alice-1.user._bitcoin-payment.example.com',
      'ALICE-1.user._bitcoin-payment.Example.com.',
    ]) {
      expect(zoneText(world, DOMAIN, name)).toBe(`bitcoin:?lno=${offer}`);
    }
    expect(walletOfUsername(world, 'alice-1')).toBe(alice);
  });

  test.each([
    'nobody.user._bitcoin-payment.example.com',
    'alice-1.user._bitcoin-payment.example.org',
    'alice-1.example.com',
    '.user._bitcoin-payment.example.com',
  ])('is nothing for %s', (name) => {
    const { world, wallet, claim } = names();
    claim(wallet(), 'alice-1');
    expect(zoneText(world, DOMAIN, name)).toBeNull();
  });
});
