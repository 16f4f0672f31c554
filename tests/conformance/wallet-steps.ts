import { metricsReader } from '../support/metrics-reader.ts';
import type { Body } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { CONFORMANCE_NODE } from './node-test.ts';
import type { ConformanceWorld } from './world.ts';

/** Steps that several files take with the two wallets of a world. */
export interface WalletSteps {
  /** Pays from the second wallet. Throws if the payment fails. */
  pay(body: object): Promise<Body>;
  analyze(payment_string: string): Promise<Body>;
  /** Resolves to the newest payment of the default wallet. */
  newest(): Promise<Body>;
  /** Resolves to a payment of the default wallet, once it has arrived. */
  arrived(isIt: (payment: Body) => boolean): Promise<Body>;
  /** Resolves to the unused address of the default wallet. */
  address(): Promise<string>;
  /** Creates an invoice of the default wallet; `amount` is in satoshis. */
  invoice(amount?: string): Promise<Body>;
  /** Works as {@link invoice}; the second wallet then pays the invoice. */
  receive(amount?: string): Promise<Body>;
  /** Calls list_payments of the default wallet. */
  list(query: Readonly<Record<string, string>>): Promise<Body>;
}

/** An index that no payment has. */
export const UNKNOWN_INDEX = `0000000000000000001-ln_${'0'.repeat(64)}`;

/** Returns the indexes of the payments in an answer, in their order. */
export function indexes(body: Body): string[] {
  return body.payments.map(({ index }: Body) => index);
}

/**
 * Begins a payment of the default wallet. Resolves when the wallet's balance has changed, without waiting for the
 * payment's end.
 */
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

/**
 * Begins a request with credentials of the default wallet that no request has used yet, and resolves once the sidecar
 * has opened them, which its metrics show: the request is then under way.
 */
export async function underWay<T>(
  world: ConformanceWorld,
  credentials: string,
  begin: (credentials: string) => Promise<T>,
): Promise<{ readonly answer: Promise<T> }> {
  const { value } = metricsReader(() => world.baseUrl);
  const sessions = () => value('wallet_sidecar_open_sessions');
  const before = await sessions();
  const answer = begin(credentials);
  await until(async () => (await sessions()) > before, 'the credentials are open');
  return { answer };
}

/**
 * Moves the clock of the sandbox to the next noon (UTC) of a tenth, so that no period of a budget ends during the
 * tests. The clock of a real node stays.
 */
export async function toNoonOfTenth({ post }: Pick<ConformanceWorld, 'post'>): Promise<void> {
  if (CONFORMANCE_NODE !== 'sandbox') return;
  const { now } = await post('/sandbox/clock', { advance_secs: 0 });
  const noon = new Date(now);
  noon.setUTCHours(12, 0, 0, 0);
  noon.setUTCDate(10);
  if (noon.getTime() < now) noon.setUTCMonth(noon.getUTCMonth() + 1);
  const advance_secs = Math.ceil((noon.getTime() - now) / 1000);
  await post('/sandbox/clock', { advance_secs });
}

/** Creates a client of the default wallet with scope full. Returns its credentials. */
export async function fullClient(world: ConformanceWorld): Promise<string> {
  const body = { scopes: ['full'] };
  return (await world.post('/v2/node/create_client', body)).client_credentials;
}

/** Returns the newest updated index of the default wallet; undefined before its first payment. */
export async function newestUpdate(world: ConformanceWorld): Promise<string | undefined> {
  let newest: string | undefined;
  for (;;) {
    const { updated_index } = await world.get('/v2/node/updated_payments', {
      limit: '100',
      ...(newest && { start_index: newest }),
    });
    if (updated_index === null) return newest;
    newest = updated_index;
  }
}

/** Returns steps for a world that is opened before the first step is called. */
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
