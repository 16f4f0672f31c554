import { expect } from 'bun:test';
import type { PaymentJson } from '../../src/model/payment.ts';
import type { WalletTx } from '../hostile/fake-lnd/wallet.ts';
import type { FakeLnd } from '../hostile/fake-lnd.ts';
import { msat } from './trial.ts';

/** What LND has of a payment, and what the sidecar says of it, in the same words. */
type Facts = Readonly<Record<string, unknown>>;

const STATUS = { IN_FLIGHT: 'pending', SUCCEEDED: 'completed', FAILED: 'failed' } as const;
const RECEIVED = {
  OPEN: 'pending',
  ACCEPTED: 'pending',
  SETTLED: 'completed',
  CANCELED: 'failed',
} as const;

/** Whether an invoice was asked for that LND has no attempt to pay of. */
function isUnsent(fake: FakeLnd, { direction, rail, hash }: PaymentJson): boolean {
  return direction === 'outbound' && rail === 'invoice' && !fake.payments.attempts.has(hash ?? '');
}

/**
 * Whether an outgoing payment has not ended at LND: an invoice was not sent or is in flight, or a transaction has too
 * few confirmations.
 */
export function isOpenAtLnd(fake: FakeLnd, payment: PaymentJson): boolean {
  if (payment.rail === 'onchain') {
    const sent = fake.wallet.list().find(({ txid }) => txid === payment.txid);
    return sent !== undefined && !isConfirmed(fake, sent);
  }
  const paid = fake.payments.list().find(({ hash }) => hash === payment.hash);
  return paid ? paid.status === 'IN_FLIGHT' : isUnsent(fake, payment);
}

/**
 * Checks that these are the payments, invoices and transactions of the fake, with its ends, amounts and fees, and that
 * it has paid no hash twice. What LND has no attempt of must be pending or failed.
 */
export function expectSameAtLnd(fake: FakeLnd, payments: readonly PaymentJson[]): void {
  const of = (direction: string, rail: string) =>
    payments.filter((one) => one.direction === direction && one.rail === rail);
  const unsent = payments.filter((one) => isUnsent(fake, one));
  expect(unsent.filter(({ status }) => status === 'completed')).toEqual([]);
  const paid = of('outbound', 'invoice').filter((one) => !unsent.includes(one));
  expect(sorted(paid.map(shown))).toEqual(
    sorted(
      fake.payments.list().map(({ hash, status, valueMsat, feeMsat, preimage }) => ({
        hash,
        status: STATUS[status],
        amountMsat: valueMsat,
        feesMsat: status === 'SUCCEEDED' ? feeMsat : 0n,
        preimage: status === 'SUCCEEDED' ? preimage : null,
      })),
    ),
  );
  expect([...fake.payments.attempts.values()].filter((times) => times !== 1)).toEqual([]);
  const received = of('inbound', 'invoice').map(({ hash, status }) => ({ hash, status }));
  const invoices = fake.invoices
    .list()
    .map(({ hash, state }) => ({ hash, status: RECEIVED[state] }));
  expect(sorted(received)).toEqual(sorted(invoices));
  const sent = of('outbound', 'onchain').map(({ txid: hash, status }) => ({ hash, status }));
  const spending = fake.wallet.list().filter(({ inputs }) => inputs.some(isOurs));
  const transactions = spending.map((tx) => ({
    hash: tx.txid,
    status: isConfirmed(fake, tx) ? 'completed' : 'pending',
  }));
  expect(sorted(sent)).toEqual(sorted(transactions));
}

const isConfirmed = (fake: FakeLnd, tx: WalletTx) => fake.wallet.confirmations(tx) >= 6;

const isOurs = ({ ownValueSat }: { readonly ownValueSat: bigint | null }) => ownValueSat !== null;

function shown({ hash, status, amount, fees, preimage }: PaymentJson): Facts {
  return { hash, status, amountMsat: msat(amount ?? '0'), feesMsat: msat(fees), preimage };
}

function sorted(facts: readonly Facts[]): Facts[] {
  return facts.toSorted((a, b) => `${a.hash}`.localeCompare(`${b.hash}`));
}
