import { describe, expect, test } from 'bun:test';
import type { Permission } from '../../src/model/clients/permissions.ts';
import {
  maySee,
  PaidByAnother,
  requireMaySee,
  requireMaySeeOfKey,
  seesEveryPayment,
} from '../../src/wallet/session/paid-by-another.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { CLIENT, WALLET } from '../support/store-steps.ts';

const payment = samplePayment(1);
const OTHER = 'cd'.repeat(32);

/** A session with these permissions, in a wallet whose payment was made by `payer` (null: the owner). */
function sessionOf(
  permissions: readonly Permission[],
  { isOwner = false, payer = OTHER as string | null } = {},
): Session {
  return {
    isOwner,
    userPk: WALLET,
    caller: { id: isOwner ? 'owner' : CLIENT },
    client: () => ({ scopes: [], permissions }),
    configured: null,
    store: {
      makers: { of: async () => new Set() },
      spends: {
        callerOf: async (wallet: string, index: string) =>
          wallet === WALLET && index === payment.index ? payer : null,
      },
    },
  } as unknown as Session;
}

const payer = sessionOf(['pay_invoice'], { payer: CLIENT });
const reader = sessionOf(['get_payment_by_id']);
/** The node's own credentials in the configuration may be a token that cannot read payments. */
const owner = sessionOf(['pay_invoice'], { isOwner: true });
const strangers = [sessionOf(['pay_invoice']), sessionOf(['pay_invoice'], { payer: null })];

describe('an outgoing payment may be seen', () => {
  test('by its own payer, who may not see every payment', async () => {
    expect(seesEveryPayment(payer)).toBe(false);
    expect(await maySee(payer, payment.index)).toBe(true);
    expect(await maySee(payer, samplePayment(2).index)).toBe(false);
  });

  test('by who may read payments, and by the owner whatever its token allows, as every other', async () => {
    for (const session of [reader, owner]) {
      expect(seesEveryPayment(session)).toBe(true);
      expect(await maySee(session, payment.index)).toBe(true);
    }
  });

  test('by no other client', async () => {
    for (const session of strangers) {
      expect(seesEveryPayment(session)).toBe(false);
      expect(await maySee(session, payment.index)).toBe(false);
    }
  });
});

describe('error 106 for the payment of another says', () => {
  const errorOf = (work: Promise<void>) =>
    work.then(
      () => null,
      (thrown: unknown) => thrown,
    );

  for (const [what, require, words] of [
    ['that it is paid or being paid', requireMaySee, /^Another client .* paid this already or is/],
    [
      'that its key is of version 0.1, and when to use a new one',
      requireMaySeeOfKey,
      /^This Idempotency-Key was used .* version 0\.1.* where it has failed, use a new key\.$/,
    ],
  ] as const) {
    test(`${what}, to who may not see it, with its status and nothing else`, async () => {
      for (const session of [payer, reader, owner]) {
        expect(await errorOf(require(session, payment))).toBeNull();
      }
      for (const session of strangers) {
        const error = await errorOf(require(session, payment));
        if (!(error instanceof PaidByAnother)) throw new Error('not kept away');
        expect(error.body()).toMatchObject({ code: 106, data: { status: 'pending' } });
        expect(error.message).toMatch(words);
        expect(error.with()).toBe(error);
        expect(Object.keys(error.data as object)).toEqual(['status']);
      }
    });
  }
});
