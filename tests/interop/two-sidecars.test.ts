import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { sleep } from '../../src/lib/sleep.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { describeKinds } from './kinds.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

/** How often two sidecars race; INTEROP_RACES=500 is the long run. */
const RACES = Number(process.env.INTEROP_RACES ?? 6);
/** How far one may be ahead of the other, in milliseconds. */
const STEPS_MS = [0, 1, 2, 4, 8, 16, 32, 64] as const;
const AMOUNT = '21';

/** One of two sidecars on one node, with a client that has a budget. */
interface Payer {
  readonly sidecar: NodeSidecar;
  readonly client: Body;
}

/** Two sidecars that pay the same invoice in the same instant have one true payment each (docs/decisions.md 142). */
describeKinds('two sidecars', (network) => {
  let payers: Payer[] = [];
  beforeAll(async () => {
    const payer = async (): Promise<Payer> => {
      const sidecar = await startNodeSidecar([
        '--client-credentials',
        await network().alice.connect(),
      ]);
      const client = await sidecar.post('/v2/node/create_client', {
        scopes: ['send', 'read_info'],
        budget: { amount: '1000000', period: 'total' },
      });
      return { sidecar, client };
    };
    payers = [await payer(), await payer()];
  });
  afterAll(async () => {
    for (const { sidecar } of payers) await sidecar.close();
  });

  const pay = async ({ sidecar, client }: Payer, text: string) =>
    sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice: text },
      credentials: client.client_credentials,
    });
  const spent = async ({ sidecar, client }: Payer): Promise<number> => {
    const { clients } = await sidecar.get('/v2/node/list_clients');
    return Number(clients[client.client_pk].budget.spent);
  };
  const rows = async ({ sidecar }: Payer, invoiceHash: string): Promise<Body[]> => {
    await sidecar.put('/v2/node/sync_payments');
    const { payments } = await sidecar.get('/v2/node/list_payments', {
      filter: 'all',
      limit: '1000',
    });
    return payments.filter((one: Body) => one.hash === invoiceHash);
  };

  test(
    `of an invoice that two sidecars pay at once there is one payment, and one of them pays for it (${RACES} races)`,
    async () => {
      const seen: Record<string, number> = {};
      for (let race = 0; race < RACES; race += 1) {
        const { invoice: text } = await network().bob.invoice({ amountMsat: 21_000 });
        const before = await Promise.all(payers.map(spent));
        const lead = STEPS_MS[race % STEPS_MS.length] ?? 0;
        const answers = await Promise.all(
          payers.map(async (payer, at) => {
            if (at === race % 2) await sleep(lead);
            return pay(payer, text);
          }),
        );
        // A client that may not read payments is not shown what another program has paid.
        const paid = answers.filter(({ status }) => status === 200);
        const met = answers.filter(({ status }) => status === 400);
        expect(answers.map(({ status, body }) => [status, body.status ?? body.data])).toEqual(
          answers.map(({ status }) =>
            status === 200 ? [200, 'completed'] : [400, { status: 'completed' }],
          ),
        );
        expect(paid.length + met.length).toBe(2);
        const [first] = paid;
        if (first === undefined) throw new Error('neither was told of the payment');
        const { hash, fees } = first.body;
        const cost = Number(AMOUNT) + Number(fees);
        await until(async () => {
          const all = await Promise.all(payers.map((payer) => rows(payer, hash)));
          return all.every((own) => own.some(({ status }) => status === 'completed'));
        }, 'both list the payment');
        for (const payer of payers) {
          const own = await rows(payer, hash);
          expect(own.filter(({ status }) => status === 'completed')).toHaveLength(1);
          expect(own.filter(({ status }) => status === 'pending')).toEqual([]);
        }
        const after = await Promise.all(payers.map(spent));
        const costs = after.map((now, at) => now - (before[at] ?? 0));
        expect(costs.reduce((sum, one) => sum + one, 0)).toBeCloseTo(cost, 3);
        const name = `${paid.length} told, ${met.length} met`;
        seen[name] = (seen[name] ?? 0) + 1;
      }
      console.log('races:', seen);
    },
    120_000 + RACES * 10_000,
  );
});
