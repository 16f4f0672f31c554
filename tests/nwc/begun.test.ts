import { expect, test } from 'bun:test';
import { generateSecretKey } from 'nostr-tools/pure';
import { systemClock } from '../../src/lib/clock.ts';
import { encodeClientCredentials } from '../../src/model/credentials.ts';
import { openNwc } from '../../src/nwc/index.ts';
import { openReach } from '../../src/nwc/reach.ts';
import type { Spend, Store } from '../../src/store/ports.ts';
import { startNostrRelay } from '../support/nostr-relay.ts';
import { nwcApp } from '../support/nwc-app.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { until } from '../support/until.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const CLIENT = 'a1'.repeat(32);
/** Of the examples of BOLT 11. */
const INVOICE =
  'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh';
const EVENT = 'ab'.repeat(32);

test('an invoice that an earlier process was paying is answered, though the node says at once that it is paid', async () => {
  const relay = startNostrRelay();
  const rows = new Map<string, unknown>();
  const begun = {
    caller: CLIENT,
    idempotencyKey: EVENT,
    payment: samplePayment(1, { invoice: INVOICE, amountMsat: 250_000_000n }),
  };
  const unfinished = [begun as Spend];
  const store = {
    connectorState: {
      list: async () => rows,
      putFirst: async (_wallet: string, _kind: string, key: string, value: unknown) => {
        rows.set(key, value);
        return value;
      },
    },
    identity: { secret: generateSecretKey() },
    spends: { wallets: async () => ['wallet'], unfinished: async () => [...unfinished] },
  } as unknown as Store;
  const asked: (readonly [path: string, key: string | null])[] = [];
  const options = {
    ...{ store, log, clock: systemClock, trusted: [relay.url] },
    reach: openReach({
      guard: { allowPrivateNetwork: false, allowLoopback: false },
      ...{ trusted: [relay.url], through: null },
    }),
    askAs:
      () =>
      async (path: string, { headers }: RequestInit) => {
        asked.push([path, new Headers(headers).get('idempotency-key')]);
        const client = { own: false, budget: null, effective_permissions: ['pay_invoice'] };
        const paid = { status: 'completed', preimage: 'ee', fees: '1', network: 'regtest' };
        return Response.json({ ...client, ...paid, abilities: [] });
      },
  };
  const credentials = encodeClientCredentials({ client: CLIENT, secret: 'cd'.repeat(32) });
  const first = await openNwc(options);
  const app = nwcApp((await first.pair(credentials, { relays: [relay.url] })).nwc_uri ?? '', relay);
  const opened = await openNwc(options);
  // What the feed of the wallet does as soon as it is open.
  unfinished.pop();
  await opened.start();
  const [answer] = await until(() => {
    const found = app.answersTo({ id: EVENT });
    return found.length > 0 && found;
  });
  expect(answer).toMatchObject({ result_type: 'pay_invoice', result: { preimage: 'ee' } });
  expect(asked).toContainEqual(['/v2/node/pay_invoice', EVENT]);
  opened.stop();
  relay.stop();
});
