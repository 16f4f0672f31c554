import type { Route } from '../src/http/route.ts';
import { consoleRoutes } from '../src/http/routes/console.ts';
import { docsRoutes } from '../src/http/routes/docs.ts';
import { ROUTES, SANDBOX_ROUTES } from '../src/http/routes/index.ts';
import { metricsRoutes } from '../src/http/routes/metrics.ts';

const INDEX = `0000001764000000000-ln_${'ab'.repeat(32)}`;
const HEX = 'ab'.repeat(32);
const NODE = `02${HEX}`;

/** The command that makes each request, as it is typed. */
export const CALLS: Readonly<Record<string, readonly string[]>> = {
  'get /v2/health': ['health'],
  'put /v2/node/signup': ['signup'],
  'put /v2/node/provision': ['provision'],
  'get /v2/node/node_info': ['info'],
  'post /v2/node/create_invoice': ['invoice', '1000'],
  'get /v2/node/rate': ['rate', 'EUR'],
  'post /v2/node/settle_invoice': ['settle', INDEX, HEX],
  'post /v2/node/create_offer': ['offer'],
  'post /v2/node/get_next_unused_address': ['address'],
  'post /v2/node/withdraw_lnurl': ['withdraw', 'lnurl1x', '5'],
  'post /v2/node/buy_with_payment_app': ['buy', '5000'],
  'get /v2/node/analyze': ['analyze', 'lnbc1x'],
  'post /v2/node/pay': ['pay', 'lno1x', '5', '--max-fee', '1'],
  'post /v2/node/pay_onchain': ['pay', 'bc1x', '5', '--priority', 'high', '--max-fee', '900'],
  'post /v2/node/bump_fee': ['bump', INDEX, '--max-fee', '900'],
  'post /v2/node/approve': ['approve', INDEX],
  'post /v2/node/reject': ['reject', INDEX],
  'post /v2/node/pay_spontaneous': ['keysend', NODE, '5', '--max-fee', '1'],
  'get /v2/node/payment': ['show', INDEX],
  'put /v2/node/sync_payments': ['sync'],
  'get /v2/node/list_payments': ['payments', '--no-sync'],
  'post /v2/node/clear_payments': ['sync', '--clear'],
  'get /v2/node/updated_payments': ['updates'],
  'post /v2/node/update_personal_note': ['note', INDEX, 'x'],
  'post /v2/node/cancel_payment': ['cancel', INDEX],
  'get /v2/node/wait_for_payment': ['wait', INDEX],
  'get /v2/node/wait_for_next_payment': ['wait', '--next'],
  'get /v2/node/events': ['events'],
  'get /v2/node/export': ['export', '--format', 'jsonl'],
  'get /v2/node/human_bitcoin_address': ['name', 'show'],
  'put /v2/node/human_bitcoin_address': ['name', 'claim', 'satoshi'],
  'get /v2/node/list_channels': ['channels', 'list'],
  'post /v2/node/open_channel': ['channels', 'open', '20000'],
  'post /v2/node/close_channel': ['channels', 'close', HEX],
  'post /v2/node/create_payer_proof': ['proof', 'create', INDEX],
  'get /v2/node/client_info': ['clients', 'show'],
  'get /v2/node/list_clients': ['clients', 'list'],
  'post /v2/node/create_client': ['clients', 'create', '--scope', 'read_info'],
  'put /v2/node/update_client': ['clients', 'update', HEX, '--label', 'x'],
  'post /v2/node/revoke_client': ['clients', 'revoke', HEX],
  'post /v2/node/confirm_budgets': ['clients', 'confirm'],
  'post /v2/node/prune_clients': ['clients', 'prune'],
  'post /v2/console/link': ['console'],
  'get /v2/webhooks/deliveries': ['webhooks', 'list'],
  'get /v2/webhooks/attempts': ['webhooks', 'show', 'msg_1'],
  'get /v2/webhooks/endpoints': ['webhooks', 'endpoints', 'list'],
  'post /v2/webhooks/endpoints': ['webhooks', 'endpoints', 'add', 'http://127.0.0.1:8080'],
  'post /v2/webhooks/endpoints/delete': ['webhooks', 'endpoints', 'remove', 'ep_0d5f'],
  'post /v2/webhooks/endpoints/test': ['webhooks', 'endpoints', 'test', 'ep_0d5f'],
  'post /v2/webhooks/redeliver': ['webhooks', 'redeliver', '--since', '1d'],
  'post /sandbox/wallets': ['sandbox', 'wallet'],
  'post /sandbox/fund': ['sandbox', 'fund', '5'],
  'post /sandbox/blocks': ['sandbox', 'block'],
  'post /sandbox/pay': ['sandbox', 'pay', 'lnbc1x'],
  'post /sandbox/replace': ['sandbox', 'replace', HEX],
  'post /sandbox/clock': ['sandbox', 'clock', '1h'],
  'post /sandbox/invoice': ['sandbox', 'invoice', '5'],
  'post /sandbox/offer': ['sandbox', 'offer'],
  'post /sandbox/holds': ['sandbox', 'hold', HEX, 'settle'],
  'post /sandbox/lnurl': ['sandbox', 'lnurl', 'pay', '1', '5'],
};

/** Every route there is. */
export const routes: readonly Route[] = [
  ...ROUTES,
  ...SANDBOX_ROUTES,
  ...consoleRoutes([]),
  ...metricsRoutes,
  ...docsRoutes([]),
];
/** The name of a route in {@link CALLS}. */
export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`;

/** Starts a server that answers each endpoint with the example of its documentation. The caller stops it. */
export function exampleSidecar(onAsked: (endpoint: string) => void): Bun.Server<undefined> {
  const examples = new Map(routes.map((route) => [nameOf(route), route.example.response]));
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const name = `${request.method.toLowerCase()} ${new URL(request.url).pathname}`;
      onAsked(name);
      if (name === 'get /v2/node/export') {
        return new Response(`${JSON.stringify(examples.get(name))}\n`, {
          headers: { 'content-type': 'application/x-ndjson' },
        });
      }
      return name === 'get /v2/node/events'
        ? new Response('event: end\ndata: {"code":104,"msg":"Ended."}\n\n', {
            headers: { 'content-type': 'text/event-stream' },
          })
        : Response.json(examples.get(name));
    },
  });
}
