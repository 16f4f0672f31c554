import type { Payment } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import { stateTable } from '../connector-state.ts';
import type { Rows } from '../rows.ts';
import type { Steps } from '../steps.ts';

/** The kind of these rows among what is kept by kind and key. The key is the index of a received payment. */
const KIND = 'refunds';

/** The amounts of the refunds of a received payment, in millisatoshis, by their indexes. */
type Refunds = Readonly<Record<PaymentIndex, string>>;
type Refund = Pick<Payment, 'index' | 'refundOf' | 'amountMsat'>;

/** What refunds take of received payments, for ports that write it inside their own transactions. */
export interface RefundRows {
  /** Reserves the amount of a refund. `requireLeft` throws where what is refunded so far leaves too little. */
  reserve(
    walletId: string,
    refund: Refund,
    requireLeft?: (refundedMsat: bigint) => void,
  ): Steps<void>;
  /** Replaces what a payment has reserved by its amount; one that failed gives it back. */
  settle(walletId: string, refund: Refund & Pick<Payment, 'status'>): Steps<void>;
  /** What refunds take of these received payments, and others between, in millisatoshis, where that is anything. */
  of(walletId: string, received: readonly PaymentIndex[]): Steps<ReadonlyMap<PaymentIndex, bigint>>;
}

/** Prepares the statements of refunds. Reservations throw where a row was changed; readers are shown no such row. */
export function refundRows(rows: Rows): RefundRows {
  const table = stateTable(rows);
  const one = table.select('WHERE wallet = ? AND kind = ? AND key = ?');
  const between = table.select('WHERE wallet = ? AND kind = ? AND key BETWEEN ? AND ?');
  const put = table.upsert();
  const keep = (wallet: string, received: PaymentIndex, refunds: Refunds) =>
    put({ wallet, kind: KIND, key: received, json: JSON.stringify(refunds) });

  return {
    *reserve(wallet, { index, refundOf, amountMsat }, requireLeft) {
      if (refundOf === null) return;
      const raw = yield* one.raw.one(wallet, KIND, refundOf);
      const row = raw && one.read(raw);
      if (raw && !row) throw new Error(`The row of the refunds of ${refundOf} was changed.`);
      const before = refundsIn(row?.json);
      requireLeft?.(sumOf(before));
      yield* keep(wallet, refundOf, { ...before, [index]: `${amountMsat ?? 0n}` });
    },
    *settle(wallet, { index, refundOf, amountMsat, status }) {
      if (refundOf === null) return;
      const row = yield* one.one(wallet, KIND, refundOf);
      const { [index]: reserved, ...others } = refundsIn(row?.json);
      if (reserved === undefined) return;
      const amount = `${amountMsat ?? reserved}`;
      if (status === 'failed') yield* keep(wallet, refundOf, others);
      else if (amount !== reserved) yield* keep(wallet, refundOf, { ...others, [index]: amount });
    },
    *of(wallet, received) {
      const [first, ...others] = received.toSorted();
      if (first === undefined) return new Map();
      const found = yield* between.all(wallet, KIND, first, others.at(-1) ?? first);
      const sums = found.map(
        ({ key, json }) => [key as PaymentIndex, sumOf(refundsIn(json))] as const,
      );
      return new Map(sums.filter(([, sumMsat]) => sumMsat > 0n));
    },
  };
}

function refundsIn(json = '{}'): Refunds {
  return JSON.parse(json);
}

function sumOf(refunds: Refunds): bigint {
  return Object.values(refunds).reduce((sumMsat, amount) => sumMsat + BigInt(amount), 0n);
}
