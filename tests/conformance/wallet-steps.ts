import type { Body } from '../support/requests.ts';
import { until } from '../support/until.ts';
import type { ConformanceWorld } from './world.ts';

/** What several files ask of the two wallets of a world. */
export interface WalletSteps {
  /** Pays from the second wallet, which must succeed. */
  pay(body: object): Promise<Body>;
  analyze(payment_string: string): Promise<Body>;
  /** The default wallet's newest payment. */
  newest(): Promise<Body>;
  /** A payment of the default wallet that may take a moment to arrive. */
  arrived(isIt: (payment: Body) => boolean): Promise<Body>;
  /** The default wallet's unused address. */
  address(): Promise<string>;
  /** An invoice of the default wallet over so many sats. */
  invoice(amount?: string): Promise<Body>;
  /** {@link invoice}, paid by the second wallet. */
  receive(amount?: string): Promise<Body>;
  /** list_payments of the default wallet. */
  list(query: Readonly<Record<string, string>>): Promise<Body>;
}

/** An index that no payment has. */
export const UNKNOWN_INDEX = `0000000000000000001-ln_${'0'.repeat(64)}`;

/** The indexes in an answer that holds payments, in their order. */
export function indexes(body: Body): string[] {
  return body.payments.map(({ index }: Body) => index);
}

/** Begins a payment of the default wallet, and resolves once it has left the wallet's balance; not with its end. */
export async function onItsWay<T>(
  world: ConformanceWorld,
  begin: () => Promise<T>,
): Promise<{ readonly answer: Promise<T> }> {
  const balance = async () => (await world.get('/v2/node/node_info')).balance;
  const before = await balance();
  const answer = begin();
  await until(async () => (await balance()) !== before);
  return { answer };
}

/** Steps in a world that is opened before the first of them is called. */
export function walletSteps(opened: () => ConformanceWorld): WalletSteps {
  const invoice = (amount = '10') => opened().post('/v2/node/create_invoice', { amount });
  return {
    invoice,
    async receive(amount) {
      const made = await invoice(amount);
      const world = opened();
      await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
      return made;
    },
    list: (query) => opened().get('/v2/node/list_payments', query),
    pay(body) {
      const world = opened();
      return world.post('/v2/node/pay', body, world.bob);
    },
    analyze(payment_string) {
      const world = opened();
      return world.get('/v2/node/analyze', { payment_string }, world.bob);
    },
    async newest() {
      const world = opened();
      await world.put('/v2/node/sync_payments');
      const { payments } = await world.get('/v2/node/list_payments', { filter: 'all', limit: '1' });
      return payments[0];
    },
    async arrived(isIt) {
      const world = opened();
      return until(async () => {
        await world.put('/v2/node/sync_payments');
        const { payments } = await world.get('/v2/node/list_payments', { filter: 'all' });
        return payments.find(isIt) as Body | undefined;
      }, 'the payment arrived');
    },
    address: async () =>
      (await opened().post('/v2/node/get_next_unused_address')).address as string,
  };
}
