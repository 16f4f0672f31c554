import { type Invoice, type Invoices, invoiceJson } from './invoices.ts';
import { pageOf } from './page.ts';
import { base64Of, type Input, type RpcMethod } from './rpc.ts';

const READ = ['invoices:read'];
const WRITE = ['invoices:write'];
/** The number of invoices that ListInvoices returns when the request names none. */
const DEFAULT_PAGE = 100;

/** The REST methods of invoices. */
export function invoiceMethods(invoices: Invoices): RpcMethod[] {
  return [
    {
      http: 'POST',
      path: '/v1/invoices',
      rpc: '/lnrpc.Lightning/AddInvoice',
      needs: WRITE,
      answer: ({ input }) => {
        const invoice = invoices.add({
          ...(input.has('r_preimage')
            ? { preimage: input.bytes('r_preimage').toString('hex') }
            : {}),
          memo: input.text('memo'),
          descriptionHash: input.bytes('description_hash').toString('hex'),
          valueMsat: input.int('value_msat') || input.int('value') * 1000n,
          expirySecs: Number(input.int('expiry')) || 86_400,
          isPrivate: input.bool('private'),
        });
        return {
          r_hash: base64Of(invoice.hash),
          payment_request: invoice.paymentRequest,
          add_index: `${invoice.addIndex}`,
          payment_addr: base64Of(invoice.secret),
        };
      },
    },
    {
      http: 'GET',
      path: '/v1/invoice/{r_hash_str}',
      rpc: '/lnrpc.Lightning/LookupInvoice',
      needs: READ,
      answer: ({ input }) => invoiceJson(invoices.get(input.text('r_hash_str'))),
    },
    {
      http: 'GET',
      path: '/v2/invoices/lookup',
      rpc: '/invoicesrpc.Invoices/LookupInvoiceV2',
      needs: READ,
      answer: ({ input }) => invoiceJson(invoices.get(input.bytes('payment_hash').toString('hex'))),
    },
    {
      http: 'GET',
      path: '/v1/invoices',
      rpc: '/lnrpc.Lightning/ListInvoices',
      needs: READ,
      answer: ({ input }) => {
        const isWanted = ({ state }: Invoice) =>
          !input.bool('pending_only') || state === 'OPEN' || state === 'ACCEPTED';
        const most = Number(input.int('num_max_invoices')) || DEFAULT_PAGE;
        const all = invoices.list().filter(isWanted);
        const { page, first, last } = pageOf(all, ({ addIndex }) => addIndex, input, most);
        return {
          invoices: page.map(invoiceJson),
          last_index_offset: last,
          first_index_offset: first,
        };
      },
    },
    {
      http: 'GET',
      path: '/v1/invoices/subscribe',
      rpc: '/lnrpc.Lightning/SubscribeInvoices',
      needs: READ,
      items: async function* ({ input, signal }) {
        const follow = invoices.changes.follow(signal, () => backlog(invoices, input));
        for await (const invoice of follow) yield invoiceJson(invoice);
      },
    },
    {
      http: 'POST',
      path: '/v2/invoices/hodl',
      rpc: '/invoicesrpc.Invoices/AddHoldInvoice',
      needs: WRITE,
      answer: ({ input }) => {
        const invoice = invoices.add({
          hash: input.bytes('hash').toString('hex'),
          memo: input.text('memo'),
          descriptionHash: input.bytes('description_hash').toString('hex'),
          valueMsat: input.int('value_msat'),
          expirySecs: Number(input.int('expiry')) || 86_400,
          isPrivate: input.bool('private'),
        });
        return {
          payment_request: invoice.paymentRequest,
          add_index: `${invoice.addIndex}`,
          payment_addr: base64Of(invoice.secret),
        };
      },
    },
    {
      http: 'POST',
      path: '/v2/invoices/settle',
      rpc: '/invoicesrpc.Invoices/SettleInvoice',
      needs: WRITE,
      answer: ({ input }) => {
        invoices.release(input.bytes('preimage').toString('hex'));
        return {};
      },
    },
    {
      http: 'GET',
      path: '/v2/invoices/subscribe/{r_hash}',
      rpc: '/invoicesrpc.Invoices/SubscribeSingleInvoice',
      needs: READ,
      items: async function* ({ input, signal }) {
        const now = invoices.get(input.bytes('r_hash').toString('hex'));
        for await (const invoice of invoices.states.follow(signal, () => [{ ...now }])) {
          if (invoice.hash === now.hash) yield invoiceJson(invoice);
        }
      },
    },
    {
      http: 'POST',
      path: '/v2/invoices/cancel',
      rpc: '/invoicesrpc.Invoices/CancelInvoice',
      needs: WRITE,
      answer: ({ input }) => {
        invoices.cancel(input.bytes('payment_hash').toString('hex'));
        return {};
      },
    },
  ];
}

/** The earlier invoices that a new subscription gets. An index of zero asks for none of its kind. */
function backlog(invoices: Invoices, input: Input): Invoice[] {
  const added = Number(input.int('add_index'));
  const settled = Number(input.int('settle_index'));
  const all = invoices.list();
  return [
    ...all.filter(({ addIndex }) => added > 0 && addIndex > added),
    ...all
      .filter(({ settleIndex }) => settled > 0 && settleIndex > settled)
      .toSorted((a, b) => a.settleIndex - b.settleIndex),
  ];
}
