import { pageOf } from './page.ts';
import { type Payment, type Payments, paymentJson, paymentJsonWithoutHops } from './payments.ts';
import type { Call, JsonObject, RpcMethod } from './rpc.ts';

const READ = ['offchain:read'];
/** The number of payments that ListPayments returns when the request names none (payments/db/query.go). */
const DEFAULT_PAGE = 100;
const KEYSEND_RECORD = '5482373484';

/** The REST methods of outgoing payments. */
export function paymentMethods(payments: Payments): RpcMethod[] {
  const followed = (hash: string, { input, signal }: Call) =>
    follow(payments, hash, input.bool('no_inflight_updates'), signal);
  return [
    {
      http: 'POST',
      path: '/v2/router/send',
      rpc: '/routerrpc.Router/SendPaymentV2',
      needs: ['offchain:write'],
      items: (call) => {
        const { input } = call;
        const records = input.object('dest_custom_records');
        const { hash } = payments.send({
          paymentRequest: input.text('payment_request'),
          ...(input.has('payment_hash')
            ? { hash: input.bytes('payment_hash').toString('hex') }
            : {}),
          ...(records.has(KEYSEND_RECORD)
            ? { preimage: records.bytes(KEYSEND_RECORD).toString('hex') }
            : {}),
          amountMsat: input.int('amt_msat') || input.int('amt') * 1000n,
          feeLimitMsat: input.int('fee_limit_msat') || input.int('fee_limit_sat') * 1000n,
        });
        return followed(hash, call);
      },
    },
    {
      http: 'GET',
      path: '/v2/router/track/{payment_hash}',
      rpc: '/routerrpc.Router/TrackPaymentV2',
      needs: READ,
      items: (call) => followed(call.input.bytes('payment_hash').toString('hex'), call),
    },
    {
      http: 'GET',
      path: '/v2/router/payments',
      rpc: '/routerrpc.Router/TrackPayments',
      needs: READ,
      items: async function* ({ input, signal }) {
        const inFlight = () => payments.list().filter(({ status }) => status === 'IN_FLIGHT');
        for await (const payment of payments.changes.follow(signal, inFlight)) {
          if (payment.status === 'IN_FLIGHT' && input.bool('no_inflight_updates')) continue;
          await payments.streamed;
          yield paymentJson(payment);
        }
      },
    },
    {
      http: 'GET',
      path: '/v1/payments',
      rpc: '/lnrpc.Lightning/ListPayments',
      needs: READ,
      answer: ({ input }) => {
        const all = payments
          .list()
          .filter(({ status }) => input.bool('include_incomplete') || status === 'SUCCEEDED');
        const most = Number(input.int('max_payments')) || DEFAULT_PAGE;
        const { page, first, last } = pageOf(all, ({ index }) => index, input, most);
        return {
          payments: page.map(
            payments.isNativeSql && input.bool('omit_hops') ? paymentJsonWithoutHops : paymentJson,
          ),
          first_index_offset: first,
          last_index_offset: last,
          total_num_payments: '0',
        };
      },
    },
  ];
}

/** The payment in its present state, and every change until its end. Throws at once for an unknown hash. */
function follow(
  payments: Payments,
  hash: string,
  finalOnly: boolean,
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  const now: Payment = payments.get(hash);
  const changes = payments.changes.follow(signal, () => [{ ...now }]);
  return (async function* () {
    for await (const payment of changes) {
      if (payment.hash !== hash) continue;
      const final = payment.status !== 'IN_FLIGHT';
      if (final || !finalOnly) yield paymentJson(payment);
      if (final) return;
    }
  })();
}
