import type { FakeLnd } from '../hostile/fake-lnd.ts';
import { until } from '../support/until.ts';

/** An invoice of one sat of somebody else, to be paid with a key of its own. */
export interface Bill {
  readonly invoice: string;
  readonly hash: string;
  readonly key: string;
}

/** Invoices that a fake LND can pay. */
export class Bills {
  readonly #fake: FakeLnd;
  #made = 0;
  /** What all of them come to. A test takes off what is not to be paid. */
  billedSat = 0;

  constructor(fake: FakeLnd) {
    this.#fake = fake;
  }

  one(): Bill {
    this.#made += 1;
    this.billedSat += 1;
    const { invoice, hash } = this.#fake.payments.foreignInvoice({ amountMsat: 1_000n });
    return { invoice, hash, key: `bill-${this.#made}` };
  }

  some(count: number): Bill[] {
    return Array.from({ length: count }, () => this.one());
  }

  /** Payments of these are held at the fake from now on. */
  hold(bills: readonly Bill[]): void {
    for (const { hash } of bills) this.#fake.payments.decide(hash, { end: 'hold' });
  }

  /** Payments of these that are held succeed. */
  succeed(bills: readonly Bill[]): void {
    for (const { hash } of bills) this.#fake.payments.resolve(hash, { end: 'succeed' });
  }

  /** Resolves once the fake was asked to pay each of these. */
  async underWay(bills: readonly Bill[]): Promise<void> {
    const { attempts } = this.#fake.payments;
    await until(() => bills.every(({ hash }) => attempts.has(hash)), 'all are under way');
  }
}
