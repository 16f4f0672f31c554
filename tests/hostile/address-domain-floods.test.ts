import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { addressDomain, CALLBACK, type ProxyCall, problem, TERMS } from './address-domain-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const { ok, ask } = addressDomain();

describe('a flood', () => {
  const TOO_MANY = /^Too many requests/;

  /** Asks until the answer is an error; returns its reason. */
  async function reasonOf(path: string, options: ProxyCall) {
    for (let round = 0; round < 2000; round++) {
      const { reason } = await ask(path, options);
      if (reason !== undefined) return reason;
    }
    throw new Error('no bound was met');
  }

  test('of unpaid invoices from one source is bounded, and neither others nor payers who pay are', async () => {
    const client = '203.0.113.1';
    const made: string[] = [];
    for (let round = 0; round < 20; round++) {
      made.push((await ask(`${CALLBACK}?amount=5000`, { client })).pr);
    }
    expect(await ask(`${CALLBACK}?amount=5000`, { client })).toEqual(
      problem(/too many unpaid invoices/),
    );
    expect((await ask(`${CALLBACK}?amount=5000`, { client: '203.0.113.2' })).pr).toStartWith('ln');
    await ok('POST', '/sandbox/pay', { payable: made[3] });
    await until(async () =>
      (await ask(`${CALLBACK}?amount=5000`, { client })).pr?.startsWith('ln'),
    );
  });

  test('of requests from one source is bounded, and what it writes into X-Forwarded-For does not help', async () => {
    const client = '203.0.113.3';
    const spoofed = { 'x-forwarded-for': '8.8.8.8' };
    expect(await reasonOf(TERMS, { client, headers: spoofed })).toMatch(TOO_MANY);
    // One request may come in between, since a second allows one more; a source of its own would have 60.
    const other = { 'x-forwarded-for': '8.8.4.4' };
    const reasons: (string | undefined)[] = [];
    while (reasons.length < 30) {
      reasons.push((await ask(CALLBACK, { client, headers: other })).reason);
    }
    expect(reasons).toContainEqual(expect.stringMatching(TOO_MANY));
    expect((await ask(TERMS, { client: '203.0.113.4', headers: spoofed })).tag).toBe('payRequest');
  });

  test('from one IPv6 subscriber is one source, however many of its addresses it uses', async () => {
    const client = (n: number) => `2001:db8:1:2::${n.toString(16)}`;
    let reason: string | undefined;
    for (let n = 1; reason === undefined && n < 2000; n++) {
      ({ reason } = await ask(TERMS, { client: client(n) }));
    }
    expect(reason).toMatch(TOO_MANY);
    expect((await ask(TERMS, { client: '2001:db8:1:3::1' })).tag).toBe('payRequest');
  });
});
