import { expect, test } from 'bun:test';
import { keyedLock } from '../../../src/lib/keyed-lock.ts';
import { lightningPayment, paySpontaneous } from '../../../src/nodes/ldk/lightning/payments.ts';
import type { LdkWallet } from '../../../src/nodes/ldk/process/wallet.ts';
import type { PaySpontaneousCommand } from '../../../src/nodes/node.ts';
import { ldkRow } from './rows.ts';

const COMMAND = {
  ...{ index: ldkRow().ref, amountMsat: 5000n, maxFeeMsat: 0n, preimage: '00'.repeat(32) },
  ...{ nodePk: `02${'cd'.repeat(32)}`, message: null },
} as unknown as PaySpontaneousCommand;

/** The report of a send that the helper says it has taken before, and that stands so. */
function reportOf(state: 'asked' | 'pending') {
  const row = ldkRow({ state });
  const answers: Record<string, unknown> = { row, pay_keysend: { row, taken: true } };
  const helper = { call: async (method: string) => answers[method] };
  return paySpontaneous(
    { helper, sending: new Set(), locks: keyedLock(), nodePk: '' } as unknown as LdkWallet,
    COMMAND,
  );
}

test('a request that finds its own earlier attempt knows it only once LDK has taken that', async () => {
  expect(await reportOf('pending')).toMatchObject({
    state: 'known',
    payment: { status: 'pending' },
  });
  // It may turn out that it was never sent, of which nobody tells a payment that is known.
  expect(await reportOf('asked')).toMatchObject({ state: 'unknown' });
});

test('an attempt that LDK may not have taken is not shown to who looks for the payment', async () => {
  const seen = async (state: 'asked' | 'pending') => {
    const row = ldkRow({ state });
    const call = async (_: string, { hash }: { readonly hash?: string }) => (hash ? row : null);
    return lightningPayment({ helper: { call } } as unknown as LdkWallet, row.hash ?? '');
  };
  expect(await seen('pending')).toMatchObject({ attempt: 1, payment: { status: 'pending' } });
  expect(await seen('asked')).toBeNull();
});
